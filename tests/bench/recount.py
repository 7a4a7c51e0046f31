"""The floor of a fleet: what a plain recount of every run under a folder takes.

    python recount.py FOLDER

It reads each `trace.jsonl` with orjson in a pool of processes, checks the types of an event's
fields, and adds up what a table of runs needs. It knows no caveats, copies, rules or provenance.
Prints the number of runs.
"""

import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import orjson

Check = Callable[[Any], bool]


def _text(value: object) -> bool:
    return isinstance(value, str)


def _count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _grade(value: object) -> bool:
    return value in (None, "pass", "fail")


def _count_or_null(value: object) -> bool:
    return value is None or _count(value)


_ENVELOPE: dict[str, Check] = dict.fromkeys(
    ("event_id", "event_type", "schema_version", "ts", "project_run_id"), _text
)
_COMPONENTS = ("mechanical", "qa", "intent")
_TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
_FIELDS: dict[str, dict[str, Check]] = {
    "dispatch-start": dict.fromkeys(("dispatch_id", "dispatch_name", "subagent_type"), _text),
    "dispatch-end": {"dispatch_id": _text, "result": _text, "wall_clock_ms": _count},
    "round-start": {"dispatch_id": _text, "round_id": _text, "round_number": _count},
    "round-end": {"dispatch_id": _text, "verdict": _text, "findings_filed": _count},
    "brief-issued": {
        "dispatch_id": _text,
        "brief_byte_length": _count,
        "brief_content_hash": _text,
    },
    "spec-authored": {"spec_path": _text, "byte_length": _count},
    "spec-amended": {"spec_path": _text, "byte_length": _count, "reason": _text},
    "plan-authored": {"plan_path": _text, "byte_length": _count},
    "plan-amended": {"plan_path": _text, "byte_length": _count, "reason": _text},
    "slice-started": {"slice_slug": _text, "slice_index": _count},
    "slice-completed": {"slice_slug": _text, "result": _text},
    "tokens-recorded": dict.fromkeys(_TOKENS, _count_or_null),
    "correctness-recorded": dict.fromkeys(_COMPONENTS, _grade),
}


def read(path: Path) -> dict[str, dict[str, Any]]:
    """What a table needs of each run of a file."""
    runs: dict[str, dict[str, Any]] = {}
    for record in path.read_bytes().split(b"\n"):
        try:
            event = orjson.loads(record)
            fields = _ENVELOPE | _FIELDS.get(event["event_type"], {})
            if not all(check(event[name]) for name, check in fields.items()):
                continue
        except (ValueError, KeyError, TypeError):
            continue
        run = runs.setdefault(event["project_run_id"], {"counts": Counter(), "ms": 0})
        run["counts"][event["event_type"]] += 1
        run["ms"] += event.get("wall_clock_ms", 0) * (event["event_type"] == "dispatch-end")
        if event["event_type"] in ("correctness-recorded", "tokens-recorded"):
            run[event["event_type"]] = (event["ts"], event)
    return runs


def main(folder: str) -> None:
    paths = sorted(Path(folder).rglob("trace.jsonl"))
    with ProcessPoolExecutor() as pool:
        found = {run for runs in pool.map(read, paths, chunksize=64) for run in runs}
    sys.stdout.write(f"{len(found)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
