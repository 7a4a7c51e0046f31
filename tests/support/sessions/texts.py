"""Texts of traces in pieces: lines that are right, nearly right, and what nobody would write."""

import json

from hypothesis import strategies as st

from drive_trace.vocabulary import EVENTS
from tests.support.client_text import graded, tokens


def _examples() -> list[str]:
    """Each event twice, in two runs that share their dispatches and rounds."""
    lines = []
    for name, kind in EVENTS.items():
        for run, identity in (("alpha", "d1"), ("🚀", "é😀")):
            fields = dict(kind.example, project_run_id=run)
            for key in ("dispatch_id", "round_id", "event_id"):
                if key in fields:
                    fields[key] = identity
            lines.append(json.dumps(fields, ensure_ascii=name < "p") + "\n")
    return lines


_WHOLE = _examples()
_GRADED = [
    graded(*triple, project_run_id=run)
    for run in ("alpha", "🚀")
    for triple in (("pass", "pass", "pass"), ("pass", "passed", None), (None, "fail", None))
]
_SPOILED = [
    *(line[: len(line) // 2] + "\n" for line in _WHOLE[::7]),
    *(line.replace('"alpha"', '["alpha"]') for line in _WHOLE[::8]),
    *(line.replace("}", ',"extra":"\u2028\x85"}', 1) for line in _WHOLE[::9]),
    tokens(1, 2, None, -3),
    tokens(10**400, None, None, None),
    "\n",
    "  {}\r\n",
    "null\n",
    '{"event_type":"correctness-recorded","event_type":5}\n',
]
_ODD = [
    "\r", "\n", "\r\n", "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1e", "\0", "\ufeff", "😀",
    "é", "日", "\u0301", '"', "\\", "{", "}", ",", "null", "NaN", "1e999", "-", "\ud800",
    "[" * 600, '{"a":' * 150, "]" * 70, " " * 300,
]  # fmt: skip
SNIPPETS = st.sampled_from(["", "x", *_ODD]) | st.lists(
    st.sampled_from([*_ODD, *_GRADED]), max_size=3
).map("".join)
"""What is typed or pasted."""
TEXTS = st.lists(
    st.sampled_from([*_GRADED, *_WHOLE]) | st.sampled_from([*_GRADED, *_SPOILED, *_ODD]),
    min_size=1,
    max_size=7,
).map("".join)
"""Whole texts."""
DISK = {"checkout": "".join([*_GRADED, *_SPOILED[:4], _WHOLE[0]]), "search": _WHOLE[3]}
"""Texts of traces that are on disk."""
