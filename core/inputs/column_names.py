"""How the columns of results tables are called, role by role (reference-behaviour §4.5).

A column is recognised by its name without case, blanks and punctuation; a rank number at its end or start, or
`rankN` inside, makes it one place of a wide ranking ("Predicted CPV #2", "2. candidate", "rank3_score").
"""

from __future__ import annotations

import re
import unicodedata

ALIASES: dict[str, tuple[str, ...]] = {
    "id": (
        "Record ID",
        "id",
        "query_id",
        "question_id",
        "qid",
        "banf_id",
        "case_id",
        "item_id",
        "record",
        "test_case_id",
    ),
    "query": (
        *(
            "Query Text",
            "query",
            "question",
            "user_query",
            "query_banf",
            "banf",
            "Notice Description",
            "user_input",
        ),
        *("input", "prompt", "frage", "suchanfrage", "anfrage", "question_text", "pregunta"),
    ),
    "expected": (
        *(
            "Ground Truth CPV",
            "Expected CPV",
            "Gold CPV",
            "Reference CPV",
            "Expected Answer",
            "Expected",
            "Gold",
        ),
        *(
            "Reference",
            "Target",
            "Label",
            "ground_truth",
            "ground_truths",
            "gold_answer",
            "gt_answer",
            "reference_answer",
        ),
        *(
            "expected_output",
            "correct_answer",
            "gold_label",
            "true_label",
            "expected_code",
            "gold_code",
            "gold_cpv_code",
        ),
        *("Réponse Attendue", "erwartete Antwort", "Musterantwort", "expected_cpv_codes"),
    ),
    "prediction": (
        *("Predicted CPV", "Predicted CPV Code", "Predicted answer", "Prediction", "Predicted", "Candidate"),
        *(
            "Answer CPV",
            "Answer",
            "CPV",
            "Label",
            "Code",
            "predicted_label",
            "predicted_code",
            "top1_predicted_cpv",
        ),
    ),
    "score": (
        *("Predicted Vector Score", "Vector Score", "RRF Score", "Score", "Confidence", "Probability"),
        *("Retrieval Score", "Reranker Score", "Final Score", "predicted_score", "similarity"),
    ),
    "chunk_id": (
        *(
            "Chunk ID",
            "Chunk IDs",
            "Retrieved Chunk ID",
            "Retrieved Chunk IDs",
            "Candidate ID",
            "retrieved_ids",
        ),
        *("retrieved_context_ids", "doc_id", "document_id"),
    ),
    "title": ("Chunk Titel", "Chunk Title", "Title", "Retrieved Chunk Title", "Candidate Title"),
    "chunk_text": (
        *("Chunk Text", "Chunk", "Chunks", "Retrieved Chunk Text", "Retrieved Chunks", "Retrieved Context"),
        *(
            "Retrieved Contexts",
            "Context",
            "Contexts",
            "Candidate Text",
            "retrieved_contents",
            "retrieval_context",
        ),
    ),
    "answer": (
        *(
            "LLM Answer",
            "Answer",
            "Generated Answer",
            "Final Answer",
            "RAG Answer",
            "Agent Answer",
            "response",
        ),
        *(
            "actual_output",
            "model_answer",
            "system_answer",
            "generated_text",
            "generated_texts",
            "output",
            "completion",
        ),
        *("Antwort", "Réponse", "Réponse de l'agent", "predicted_text"),
    ),
    "retrieved": ("Retrieved CPV", "Retrieved CPV Code", "Retrieved Code", "Retrieved Label"),
    "retrieved_score": ("Retrieved Vector Score", "Retrieved Score"),
    "rank": ("rank", "position", "candidate_rank", "topkrank"),
    "model": (
        "model",
        "model_name",
        "system",
        "system_name",
        "run",
        "run_name",
        "run_id",
        "experiment",
        "variant",
        "llm",
    ),
    "language": ("language", "lang", "sprache", "langue"),
    "question_type": ("question_type", "query_type", "task_type"),
    "answerable": ("answerable", "is_answerable", "expected_answerable"),
    "expected_keywords": ("expected_keywords", "keywords"),
    "doc_path": ("doc_path", "doc_paths", "source_document"),
    "difficulty": ("difficulty", "Schwierigkeit", "Difficulté", "category", "topic", "domain"),
    "latency_ms": ("latency_ms", "duration_ms", "response_time_ms", "elapsed_ms", "api_latency_ms"),
    "explanation": ("classifier_explanation", "api_explanation"),
    "error": ("error", "error_message", "exception"),
}
for _role, _score in (("prediction", "score"), ("retrieved", "retrieved_score")):
    ALIASES[_score] += tuple(f"{name} score" for name in ALIASES[_role])
ALIASES["chunk_text"] += tuple(f"{name} text" for name in ALIASES["prediction"])
ALIASES["title"] += tuple(f"{name} title" for name in ALIASES["prediction"])
RANKED_ROLES = ("prediction", "score", "chunk_id", "title", "chunk_text", "retrieved", "retrieved_score")
NUMBER_ROLES = frozenset(("score", "retrieved_score", "rank", "latency_ms"))
CONTENT_ROLES = ("prediction", "answer", "retrieved", "chunk_id", "chunk_text", "error")


def normal_name(name: str) -> str:
    """`Query (BANF)` → `querybanf`; accents are dropped."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    return "".join(char for char in plain if char.isalnum() and not unicodedata.combining(char))


BY_NAME: dict[str, tuple[str, ...]] = {}
for _role, _names in ALIASES.items():
    for _name in _names:
        _key = normal_name(_name)
        if _role not in BY_NAME.get(_key, ()):
            BY_NAME[_key] = (*BY_NAME.get(_key, ()), _role)
PLACE = {
    (role, normal_name(name)): place for role, names in ALIASES.items() for place, name in enumerate(names)
}


def split_rank(name: str) -> tuple[str, int | None]:
    """(name without its rank, rank or None). A name that is itself known keeps its number."""
    key = normal_name(name)
    if key in BY_NAME:
        return key, None
    for pattern in (
        r"^()top(\d{1,3})(\D.*)$",
        r"^(.*?)rank(\d{1,3})(.*)$",
        r"^(.*?\D)()(\d{1,3})$",
        r"^()(\d{1,3})(\D.*)$",
    ):
        found = re.match(pattern, key)
        if not found:
            continue
        first, middle, last = found.groups()
        base, number = (first, last) if pattern.endswith(r"(\d{1,3})$") else (first + last, middle)
        base = re.sub(r"(?:top|no|nr)$", "", base)
        if base in BY_NAME and number.isdigit():
            return base, int(number)
    return key, None


def numbers_in(names: list[str]) -> list[int] | None:
    """The last number in each name, where each has its own ("Vorschlag 2 (Code)"); None otherwise."""
    found = [re.findall(r"\d{1,3}", name) for name in names]
    numbers = [int(each[-1]) for each in found if each]
    return numbers if len(numbers) == len(set(numbers)) == len(names) else None
