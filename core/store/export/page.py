"""Self-contained pages: one HTML file, no script from elsewhere, no request, every text escaped, light and dark.

Colours follow the reader's system; a verdict is never told by colour alone.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from core.store.packing import sql_text

MARKS = {"PASS": "●", "WEAK": "▲", "FAIL": "✕", "ERROR": "◆"}
_STYLE = """
:root{color-scheme:light dark;--bg:#fff;--ink:#1c2330;--dim:#5b6472;--line:#dfe3e8;--soft:#f5f7f9;
--pass:#12724a;--weak:#8a5a00;--fail:#b3261e;--error:#6d3fa8;--add:#d9f2e3;--cut:#fbdedb}
@media(prefers-color-scheme:dark){:root{--bg:#12161c;--ink:#e6e9ee;--dim:#9aa4b2;--line:#2b323c;--soft:#1a2028;
--pass:#5ec796;--weak:#e0b04f;--fail:#f2837b;--error:#bd9bf0;--add:#173a29;--cut:#4a2220}}
*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:76rem;margin:0 auto;padding:2rem 1.25rem 4rem}h1{font-size:1.6rem;margin:0 0 .25rem}
h2{font-size:1.15rem;margin:2.2rem 0 .6rem}h3{font-size:1rem;margin:1rem 0 .3rem}p{margin:.4rem 0}
.dim{color:var(--dim)}table{border-collapse:collapse;width:100%;font-size:.92rem}
th,td{text-align:left;padding:.35rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}
th{font-weight:600;color:var(--dim)}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
.scroll{overflow-x:auto}.v{white-space:nowrap;font-weight:600}.PASS{color:var(--pass)}.WEAK{color:var(--weak)}
.FAIL{color:var(--fail)}.ERROR{color:var(--error)}.text{white-space:pre-wrap;overflow-wrap:anywhere}
details{border:1px solid var(--line);border-radius:6px;margin:.4rem 0;background:var(--soft)}
summary{cursor:pointer;padding:.45rem .7rem}details>div{padding:.2rem .9rem .8rem}
ins{background:var(--add);text-decoration:none}del{background:var(--cut)}
.tiles{display:flex;flex-wrap:wrap;gap:.6rem;margin:1rem 0}.tile{border:1px solid var(--line);border-radius:8px;
padding:.6rem .9rem;min-width:7.5rem}.tile b{display:block;font-size:1.4rem}
.note{border-left:3px solid var(--weak);padding:.3rem .8rem;margin:.5rem 0;background:var(--soft)}
.note.refused{border-color:var(--fail)}
"""


def esc(value: object) -> str:
    """Text that HTML shows as it is; lone surrogates and NUL become U+FFFD."""
    return html.escape(sql_text(str(value)).replace("\0", "\ufffd"))


def page(title: str, body: Iterable[str]) -> str:
    """A whole file."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{esc(title)}</title>\n<style>{_STYLE}</style></head>\n<body><main>\n"
        + "\n".join(body)
        + "\n</main></body></html>\n"
    )


def verdict(name: str) -> str:
    """A verdict in word, shape and colour."""
    return f'<span class="v {esc(name)}">{MARKS.get(name, "")} {esc(name)}</span>'


def tiles(entries: Iterable[tuple[str, str]]) -> str:
    """Figures in a row: (markup of the label, markup of the figure)."""
    return (
        '<div class="tiles">'
        + "".join(f'<div class="tile"><b>{n}</b>{label}</div>' for label, n in entries)
        + "</div>"
    )


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, numeric: Sequence[int] = ()) -> str:
    """A table of ready markup. `numeric` columns stand to the right."""
    kind = ['class="n"' if i in numeric else "" for i in range(len(columns))]
    head = "".join(f"<th {kind[i]}>{esc(name)}</th>" for i, name in enumerate(columns))
    lines = [
        "<tr>" + "".join(f"<td {kind[i]}>{cell}</td>" for i, cell in enumerate(row)) + "</tr>" for row in rows
    ]
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>'
        + "\n".join(lines)
        + "</tbody></table></div>"
    )


def fold(summary: str, body: Iterable[str], *, opened: bool = False) -> str:
    """A part that opens by a click; `summary` and `body` are markup."""
    return (
        f"<details{' open' if opened else ''}><summary>{summary}</summary><div>"
        + "\n".join(body)
        + "</div></details>"
    )


def number(value: float | None, digits: int = 3, *, sign: bool = False) -> str:
    """A figure, or a dash where there is none."""
    return "–" if value is None else f"{value:{'+' if sign else ''}.{digits}f}"


def text(value: str | None, limit: int = 20_000) -> str:
    """Text as text, with its line breaks; what is cut is said."""
    if not value:
        return '<p class="dim">(empty)</p>'
    cut = f' <span class="dim">… [cut: {len(value)} characters]</span>' if len(value) > limit else ""
    return f'<div class="text">{esc(value[:limit])}{cut}</div>'
