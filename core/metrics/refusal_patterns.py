"""What people and systems say when they do not answer, in German and English (and, less surely, French and Spanish).

`STRONG` says outright that the question is not answered; `LACKING` says that the speaker or the source has
nothing; `TERSE` is a whole response; `META` is talk about sources, help and the question, which is no answer.
"""

from __future__ import annotations

import re

from core.text import word_set

_EN_SOURCE = (
    r"(?:documents?|contexts?|texts?|passages?|excerpts?|sources?|paragraphs?|sections?|articles?|materials?|files?|corpus"
    r"|knowledge base|handbook|manual|regulations?|information (?:given|provided)|results|pages?|snippets?|statutes?)"
)
_EN_THIS = r"(?:this|that|it|the (?:question|answer)|an answer|your (?:question|request)|these questions?)"
_EN_ANSWER = (
    r"(?:answer|say|tell|help|assist|determine|provide|give|find|confirm|verify|share|disclose|comply|speculate|respond|assess"
    r"|judge|summari[sz]e|offer|reveal|discuss|advise|comment|state|identify|locate|conclude|infer|fulfil+|engage|support that)"
)
_EN_CANNOT = r"(?:can(?:not|'t| not)|could(?:n't| not)|am (?:not able|unable|not in a position|not allowed|not authori[sz]ed|only able) to|was(?:n't| not) able to|was unable to|(?:'m|’m| am) (?:not able|unable|not in a position|not allowed|not authori[sz]ed) to|(?:can|could) neither|(?:wo|would)n't be able to|'m only able to)"
_EN_NOINFO = r"(?:(?:no|any|enough|sufficient|insufficient|more|relevant|further|specific|the|that|this)\s+)*(?:information|info|details?|data|knowledge|evidence|answer|context|access|indication|mention|reference|document|idea)"

_DE_SOURCE = (
    r"(?:dokument\w*|unterlagen|kontext\w*|text(?:e[ns]?|stellen?|passagen?|s)?|passagen?|auszüge\w*|auszug|quellen?|abschnitt\w*"
    r"|ordnung(?:en)?|satzung(?:en)?|material\w*|fundstellen?|paragra(?:ph|f)en|wissensbasis|ausschnitt\w*|regelung(?:en)?)"
)
_DE_ANSWER = (
    r"(?:beantworten|antworten|sagen|beurteilen|nennen|helfen|weiterhelfen|feststellen|entnehmen|ableiten|angeben|mitteilen|klären"
    r"|bestätigen|finden|treffen|machen|geben|erteilen|leisten|ermitteln|herauslesen|ausführen|preisgeben|liefern|bestimmen)"
)
_DE_NOTHING = r"(?:nichts|nicht|kein(?:e|en|er|em|es|erlei)?)"
_DE_INFO = (
    r"(?:angaben?|information(?:en)?|aussagen?|auskunft|auskünfte|daten|hinweise?|antwort|aufschluss|regelung(?:en)?|belege?|evidenz"
    r"|erkenntnisse|unterlagen|treffer|dokumente?|zugriff|zahl|rechtsberatung|einzelheiten|details|textstellen?)"
)

STRONG = {
    "en": (
        rf"\b(?:i|we)\b[^.;!?]{{0,30}}?{_EN_CANNOT}\s+(?:\w+\s+){{0,2}}?{_EN_ANSWER}\b(?! enough| but)",
        r"\b(?:question|answer|request|this|that|it)\b[^.;!?]{0,20}\b(?:cannot|can't|can not|could not) be (?:\w+ )?(?:answered|determined|given|found|established|derived|inferred)",
        r"\bit (?:is|'s) (?:not possible|impossible) to (?:determine|say|answer|tell|establish|give)",
        r"\bisn't clear from the\b|\b(?:i|we) (?:must|have to|need to|would|will) (?:decline|refuse)\b|\b(?:i|we)(?: will|'ll)? (?:decline|refuse) to\b",
        r"\b(?:i|we) (?:will not|won't|would rather not|'d rather not)\b|\bi'd rather not\b",
        r"\b(?:not enough|insufficient|no|without (?:more|further)|lacks?|lacking|too little)\b[^.;!?]{0,50}\bto (?:answer|determine|respond|say|give)\b",
        rf"\b(?:{_EN_SOURCE}|they|which|that|it)\b[^.;]{{0,60}}\b(?:do(?:es)? not|don't|doesn't) (?:answer|address|provide an answer|allow me)\b",
        rf"\bnone of\b[^.;]{{0,30}}\b{_EN_SOURCE}\b[^.;]{{0,20}}\b(?:answers?|address(?:es)?|mentions?|contains?|covers?|says?)\b",
        r"\b(?:i|we)(?:'m|'re| am| are| was| were)? (?:\w+ )?(?:unable|not able|not in a position)\b|\b(?:i|we)(?:'m|'re| am| are) (?:not sure|unsure|uncertain)\b",
        r"\bi(?:'m| am) (?:not sure|afraid)\b(?=[^.]*\b(?:don't|do not|doesn't|can't|cannot|no)\b)",
        r"\bnot something (?:i|we) can\b|\b(?:i|we)(?:'m| am)? (?:\w+ ){0,6}?can't do that\b|\bcannot do that\b|\b(?:outside|beyond) my (?:knowledge|capabilit\w+|scope|expertise|remit)\b",
        r"^\W*(?:could not|couldn't|cannot|can't|unable to) (?:find|locate|answer|determine|say|tell)\b",
        r"\bi need more\b|\bi would need\b[^.;]*\bto answer\b",
    ),
    "de": (
        rf"\b(?:ich|wir)\b[^.;!?]{{0,90}}?\b(?:nicht|nichts|{_DE_NOTHING} (?:\w+ ){{0,3}}{_DE_INFO})\b[^.;!?]{{0,60}}?\b{_DE_ANSWER}\b",
        rf"\bkann (?:ich|man) (?:\w+ ){{0,6}}?nicht (?:\w+ )?{_DE_ANSWER}\b",
        r"\b(?:frage|antwort|das|dies|es|sich)\b[^.;!?]{0,70}\bnicht (?:sicher |eindeutig |pauschal |zuverlässig )?(?:beantworten|beantwortbar|feststellen|klären|entnehmen|ableiten|ermitteln|bestimmen|sagen)\b",
        r"\b(?:antwort|aussage|auskunft|beantwortung)\b[^.;!?]{0,80}\bnicht möglich\b",
        r"\bkeine (?:\w+ )?(?:aussage|angabe|antwort|auskunft)\b[^.;!?]{0,30}\b(?:getroffen|gemacht|gegeben|erteilt)\b (?:werden|ist)",
        r"\b(?:beantworte[nt]?) (?:das|dies|die frage|diese frage) nicht\b|\bnicht beantwortbar\b",
        r"\bich (?:lehne|werde|möchte)\b[^.;!?]{0,40}\b(?:ab|nicht)\b|\bich bin nicht in der lage\b",
        r"\b(?:hier )?muss ich passen\b|\bbin ich überfragt\b|\büberfragt\b",
        r"\b(?:dafür|dazu|hierfür) reich(?:en|t)\b[^.;!?]*\bnicht (?:aus)?\b|\bnicht genügend (?:belege|informationen|angaben)\b",
        r"\bmuss ich\b[^.;!?]{0,15}\bpassen\b|\bich muss\b[^.;!?]*\b(?:ablehnen|passen)\b|\bbin ich (?:nicht zuständig|überfordert)\b",
        r"\b(?:frage|antwort|das|dies|es)\b[^.;!?]{0,40}\bkann\b[^.;!?]{0,40}\bnicht (?:\w+ )?(?:beantwortet|festgestellt|geklärt|ermittelt|bestimmt) werden\b",
        r"\bübersteig\w+ (?:meine|mein)\b|\bich bin (?:mir )?(?:da |hier )?nicht (?:ganz )?sicher\b|\bich bin (?:dafür |hierfür )?nicht zuständig\b",
        r"\breich(?:en|t)\b[^.;!?]{0,40}\bnicht aus\b[^.;!?]*\b(?:zu|für eine) (?:\w+ )?(?:beantworten|entscheiden|sagen|beurteilen|antwort|aussage)\b",
        r"\bals (?:ki|sprachmodell)[^.;!?]*\b(?:kann|darf) ich\b",
    ),
    "fr": (
        r"\bje ne (?:peux|puis|sais|suis)\b[^.;!?]*\b(?:pas|répondre|malheureusement)\b",
        r"\b(?:impossible|pas possible) (?:de|d')\s?(?:répondre|déterminer)",
        r"\bne (?:contien(?:t|nent)|mentionne(?:nt)?|précise(?:nt)?|permet(?:tent)?) pas\b|\bje n'ai pas (?:trouvé|d'information|accès)|\baucune information\b",
    ),
    "es": (
        r"\bno (?:puedo|sé|tengo|dispongo)\b[^.;!?]*\b(?:responder|información|datos|ayudar)\b|\bno lo sé\b",
        r"\bno (?:se menciona|menciona|contiene|especifica)\b",
    ),
}

LACKING = {
    "en": (
        rf"\b(?:i|we)\b[^.;!?]{{0,25}}?\b(?:do not|don't|did not|didn't|have not|haven't|lack|have no|found no|see no|find no)\b(?! doubt)(?:\s+\w+){{0,4}}?\s+(?:{_EN_NOINFO}|anything|nothing)\b",
        r"\b(?:found|have|find) nothing\b",
        rf"\b(?:i|we)\b[^.;!?]{{0,20}}\b(?:have|with|given) (?:insufficient|too little|limited) {_EN_NOINFO}\b|\b(?:i|we)(?:'m| am| are) not aware of\b",
        rf"\b(?:i|we) (?:can(?:not|'t)|do(?:n't| not)|could(?:n't| not)) see\b[^.;!?]*\b{_EN_SOURCE}\b|\b(?:i|we) only have\b[^.;!?]*\b(?:nothing|not|no)\b",
        r"\b(?:there is|there's|there isn't|there are)(?: not)? (?:enough|sufficient|insufficient) (?:information|context|data|evidence)\b(?! (?:that|of guilt))",
        rf"\bnothing in (?:the|these|my) (?:\w+ )?{_EN_SOURCE}\b|\b{_EN_SOURCE}\b[^.;!?]{{0,20}}\b(?:lacks?|omits?) (?:this|that|the|any|such)\b",
        r"\b(?:topic|information|answer|details?|context|question|subject)\b[^.;!?]{0,40}\b(?:(?:is|are) (?:not (?:in|covered|part|there|available|present|contained)|missing|absent|unavailable|lacking)|(?:isn't|aren't) (?:in|covered|part|there|available|present|contained))\b",
        r"\bi (?:do not|don't|really don't) know\b|\bi have no (?:idea|clue|knowledge)\b|\bi haven't\b",
        rf"\b{_EN_SOURCE}\b[^.;!?]{{0,40}}\b(?:do(?:es)? not|don't|doesn't|did not|didn't|never|fails? to)\s+(?:\w+\s+)?(?:contain|mention|state|provide|say|specify|include|answer|cover|address|give|go into|indicate|discuss|allow|list|name|tell)\b",
        rf"\b{_EN_SOURCE}\b[^.;!?]{{0,30}}\b(?:(?:says?|contains?|gives?|offers?|provides?) (?:nothing|no)|(?:is|are) silent|(?:has|have) (?:nothing|no))\b",
        rf"\b(?:not|never|n't)\s+(?:\w+\s+)?(?:specified|mentioned|stated|provided|included|given|covered|contained|addressed|found|listed|described|clear)\s+(?:anywhere\s+)?(?:in|from|by)\s+(?:the|these|this|my|any)\s+(?:\w+\s+){{0,2}}?{_EN_SOURCE}",
        rf"\b(?:does not|doesn't|do not) appear in (?:the|my) (?:\w+ )?{_EN_SOURCE}|\b(?:is|are) missing from the (?:\w+ )?{_EN_SOURCE}",
        rf"\bno (?:\w+ )?(?:information|mention|reference|data|details?|indication)\b[^.;!?]{{0,40}}\b(?:in the (?:\w+ )?{_EN_SOURCE}|is available(?: on this| about)?|available on)",
        r"\bno (?:relevant )?(?:results|passages?|documents?|information|answer) (?:were|was|could be|have been|has been) (?:found|retrieved)|\bnot known to me\b",
        r"\b(?:outside|beyond) (?:the )?(?:scope|information|my)\b[^.;!?]*\b(?:i|what i|my)\b|\bnot part of my (?:corpus|knowledge|data)",
        r"\b(?:not|n't) (?:cover|covered)\b[^.;!?]*\bthis topic\b|\bi am only able to answer\b|\bi(?:'m| am) only able to answer\b|\bi(?:'m| am) not authori[sz]ed to\b",
        r"\b(?:is|are|was|were|isn't|aren't|wasn't)\b[^.;!?]{0,20}(?:\bnot|n't) (?:explicitly |clearly )?(?:mentioned|specified|stated|disclosed|provided|known|documented|indicated|given)\W*$",
        r"\b(?:there is|there's|i see|there are) (?:nothing|no (?:mention|information|details?|reference|indication))\b",
        rf"\bunknown from the (?:\w+ )?{_EN_SOURCE}",
    ),
    "de": (
        r"\b(?:ist|wird|sind|werden|wurde|bleibt)\b[^.;!?]{0,30}\bnicht (?:näher |explizit |ausdrücklich )?(?:genannt|erwähnt|angegeben|spezifiziert|bekannt|ausgeführt|beschrieben|dokumentiert|ersichtlich)\W*$",
        r"\b(?:liegt|liegen|steht|stehen) (?:mir|uns)\b[^.;!?]*\b(?:nicht|kein\w*)\b",
        rf"(?!.*\b(?:darf|dürfen|muss|müssen|soll|sollen)\b(?!.*\bich\b))\b(?:dazu|hierzu|darüber|hierüber|dafür|davon|zu (?:diese[rm]|dem|der) (?:frage|punkt|thema)|zu(?:r|m)? \w+|für das jahr \d+)\b[^.;!?]{{0,60}}\b(?:{_DE_NOTHING}(?: \w+){{0,2}} {_DE_INFO}|nichts|nicht erwähnt|nicht bekannt)\b",
        rf"\b{_DE_SOURCE}\b[^.;!?]{{0,50}}\b(?:enthält|enthalten|gibt|geben|nennt|nennen|erwähnt|erwähnen|sagt|sagen|steht|stehen|findet sich|finden sich|schweigen|schweigt|ergibt sich|finde ich|bieten|liefern)\b[^.;!?]{{0,40}}\b(?:{_DE_NOTHING})\b",
        rf"\b(?:enthält|enthalten|nennt|nennen|gibt|geben|steht|findet|finden|finde|ergibt)\b[^.;!?]{{0,40}}\b(?:{_DE_NOTHING})\b(?=[^.;!?]*\b(?:dazu|hierzu|darüber|{_DE_INFO}|nichts|im text|auf diese frage)\b)(?=.*\b(?:{_DE_SOURCE}|ich|kontext|dazu|hierzu|sie|darüber)\b)",
        rf"\b(?:in den|im|in der|in dem|aus den|aus dem|den|dem)\b (?:\w+ ){{0,3}}?{_DE_SOURCE}\b[^.;!?]{{0,60}}\b(?:nicht (?:genannt|angegeben|erwähnt|behandelt|zu entnehmen|hervor|enthalten|geregelt|geklärt|aufgeführt|zu finden)|nichts)\b",
        r"\b(?:nicht (?:genannt|angegeben|erwähnt|behandelt|geregelt|enthalten|zu entnehmen)|steht nicht|geht nicht)\b[^.;!?]{0,40}\b(?:im text|in den|im kontext|im dokument|hervor)\b",
        rf"\b(?:geht|steht) [^.;!?]{{0,40}}{_DE_SOURCE}[^.;!?]{{0,20}}\bnicht hervor\b",
        rf"\b(?:ich|wir|mir|uns|meine[nrm]?)\b[^.;!?]{{0,70}}\b(?:{_DE_NOTHING} (?:\w+ ){{0,2}}{_DE_INFO}|nichts|nicht bekannt|fehlen|weiß (?:es|das|ich)? ?\w* ?nicht|nicht zur verfügung|deckt)\b",
        r"\b(?:ich|mir)\b[^.;!?]{0,40}\bkein(?:e|en|erlei)? (?:\w+ )?(?:wissen|kenntnis|kenntnisse|quelle|antwort)\b",
        r"\bantwort (?:darauf|dazu|hierauf)?\b[^.;!?]{0,20}\b(?:habe|kenne) ich nicht\b|\bich (?:habe|kenne)\b[^.;!?]{0,30}\bantwort\b[^.;!?]{0,15}\bnicht\b",
        rf"\b{_DE_SOURCE}\b[^.;!?]{{0,30}}\b(?:behandel\w+|äußer\w+|tauch\w+|erwähn\w+|kommt|kommen|berühr\w+|beantwort\w+)\b[^.;!?]{{0,40}}\b(?:nicht|nichts|kein\w*)\b",
        r"\bnichts\b[^.;!?]{0,40}\b(?:gefunden|zu finden|bekannt)\b",
        rf"\b(?:äußer\w+|tauch\w+|behandel\w+|sag\w+|nenn\w+|erwähn\w+|enthält|enthalten|gibt|geben|bieten|liefern)\b[^.;!?]{{0,40}}\b{_DE_SOURCE}\b[^.;!?]{{0,20}}\b(?:nicht|nichts)\b",
        r"\b(?:diese|die|jene|solche|notwendige\w*|nötige\w*) (?:\w+ )?(?:angaben?|information(?:en)?|auskunft)\b[^.;!?]{0,20}\b(?:fehlt|fehlen)\b",
        r"\b(?:weiß ich|ich weiß)\b[^.;!?]{0,20}\bnicht\b|\bdie habe ich nicht\b",
        r"\b(?:keine|nicht) (?:passenden |relevanten )?(?:treffer|dokumente|textstellen|ergebnisse)\b[^.;!?]{0,30}\bgefunden\b|\bwurden keine (?:\w+ )?(?:treffer|dokumente|ergebnisse)\b",
        r"\b(?:gewünschte|diese|gesuchte) (?:information|angabe|auskunft)\b[^.;!?]{0,40}\bnicht\b",
        r"\baußerhalb meine[sr]\b|\bda kann ich\b[^.;!?]*\bnicht\b",
    ),
    "fr": (),
    "es": (),
}

TERSE = re.compile(
    r"^\W*(?:unfortunately |leider |sorry,? )?(?:n/?a|k\. ?a\.|unanswerable|unknown|no (?:answer|data|information|evidence|results?|context)(?: (?:found|available|given|provided))*"
    r"|(?:information|answer|data|result) (?:not|un)\s?(?:found|available|provided|specified|given)|insufficient (?:information|evidence|context|data)"
    r"|not (?:enough|sufficient) (?:information|evidence|context|data)(?: to answer)?|not (?:specified|stated|mentioned|provided|given|available|found|answerable)"
    r"|cannot (?:be )?(?:answer(?:ed)?|determined?)|can't (?:say|tell|answer)|i (?:don't|do not) know|no idea|no comment|unclear|not sure"
    r"|keine? (?:angaben?|antwort|information(?:en)?|daten|auskunft|treffer|ausreichende\w* (?:evidenz|belege|informationen)|belege|aussage)(?:[^.;!?]{0,45}(?:gefunden|vorhanden|verfügbar|möglich|abschnitten|angegeben|enthalten|dokumenten|unterlagen))?"
    r"|nicht (?:angegeben|genannt|bekannt|beantwortbar|verfügbar|spezifiziert|enthalten|gefunden)|unbekannt|unzureichende (?:informationen|angaben|evidenz)|nicht genügend (?:belege|informationen|angaben)[^.;!?]{0,25}"
    r"|weiß (?:ich )?nicht|kann ich (?:leider )?nicht (?:sagen|beantworten)|(?:ich )?weiß es nicht|keine ahnung|kein kommentar)\W*$",
    re.IGNORECASE,
)

META = re.compile(
    rf"\b(?:{_EN_SOURCE}|{_DE_SOURCE}|question|request|frage|anfrage|contact|consult|reach out|wenden sie|wende dich|bitte|please|sorry|apologi[sz]e"
    r"|tut mir leid|entschuldigung|leider|unfortunately|it depends|hängt (?:\w+ ){0,3}ab|searched|durchsucht|nachsehen|as an ai|als ki|version|i can)\b",
    re.IGNORECASE,
)

# Without one of these no pattern can match: most answers are settled here.
HINT = re.compile(
    r"\bn(?:icht|ichts|ot|o|one|othing|ever|either|on)\b|n't|\bkein|cannot|unable|declin|refus|ablehn|\blehne|passen|überf|fehl"
    r"|missing|absent|silent|schweig|un(?:known|bekannt|zureichend|clear|klar|available|sure|certain|able)|insufficient|außerhalb"
    r"|outside|beyond|übersteig|lack|omit|limited|too little|only|fail|impossib|aucune|\bne\b|afraid|would need|need more"
    r"|weiß|keine|won't|rather|as an ai|als (?:ki|sprachmodell)",
    re.IGNORECASE,
)
# what each alternative needs, in lower case: looking for these first is cheap
_WORDS = frozenset("nicht nichts not no none nothing never neither non ne".split())
_PARTS = (
    "n't", "kein", "cannot", "unable", "declin", "refus", "ablehn", "lehne", "passen", "überf", "fehl", "missing", "absent", "silent",
    "schweig", "unknown", "unbekannt", "unzureichend", "unclear", "unklar", "unavailable", "unsure", "uncertain", "insufficient",
    "außerhalb", "outside", "beyond", "übersteig", "lack", "omit", "limited", "too little", "only", "fail", "impossib", "aucune",
    "afraid", "would need", "need more", "weiß", "won't", "rather", "as an ai", "als ki", "als sprachmodell",
)  # fmt: skip


def hinted(text: str) -> bool:
    """Whether a text has any word by which it may decline; without one it does not."""
    lowered = text.lower()
    possible = not _WORDS.isdisjoint(word_set(text)) or any(map(lowered.__contains__, _PARTS))
    return possible and HINT.search(text) is not None


# Somebody else's words, conditions and cases: nothing in them is said by the speaker about the question.
ASIDE = re.compile(r"„[^“”]*[“”]|“[^”]*”|«[^»]*»|\"[^\"]*\"")
CONDITION = re.compile(
    r"^\W*(?:(?:if|when|whenever|where|unless|in case|should|once|although|while|wenn|falls|sofern|soweit|solange|sobald|wer|ohne|bei"
    r"|students?|applicants?|those|a person|guests|employees|he|she|they|you|sie (?:haben|können|brauchen|dürfen|müssen)|man|studierende"
    r"|niemand|nobody|scientists|only)\b)",
    re.IGNORECASE,
)
# "Without more details I can't …", "Bei medizinischen Fragen kann ich …": the speaker speaks after all.
SPEAKER = re.compile(
    r"^\W*(?:ohne|bei|where|once|although|while|without|in case)\b.*\b(?:i|we|ich|wir)\b", re.IGNORECASE
)
