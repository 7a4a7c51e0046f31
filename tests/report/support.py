"""Reports on traces that are written in short, and hostile ones."""

import json
from typing import Any

from drive_trace.report.contents import FullReport, report_on, to_json
from drive_trace.report.html import report_html
from tests.support.fixtures import trace
from tests.support.scored import read_log

HOSTILE = (
    "</script><script>document.title='run'</script>",
    '"><img src=x onerror="document.title=\'run\'">',
    "javascript:alert(1)",
    "' onload='alert(1)",
    "</style><style>*{display:none}",
    "--><svg onload=alert(1)>",
    "\x00\x07\x1b[31mred\x9b]0;title",
    "two\nlines\r\x0b\x85\u2028",
    "\u202egnp.exe\u2069\u200b",
    "x" * 5000,
    "\ud800 alone",
    "&lt;b&gt; <U+0041> `code` | [a](b) **bold**",
    "日本 café שלום 🚀",
    "\ufdd0link\ufdd1https://x\ufdd1[a](b)\ufdd2",  # as documents mark what is a link
)
"""What a trace may say in every place where it can say anything."""


def report_of(*traces: str) -> FullReport:
    """The report on traces called a.jsonl, b.jsonl, …"""
    paths = [f"{chr(ord('a') + number)}.jsonl" for number in range(len(traces))]
    return report_on([read_log(each, path) for each, path in zip(traces, paths, strict=True)])


def html_of(*lines: str) -> str:
    """The page on one trace of these events."""
    return report_html(report_of(trace(*lines)), "test")


def json_of(*lines: str) -> Any:
    """The report on one trace of these events, as a program reads it."""
    return json.loads(json.dumps(to_json(report_of(trace(*lines)))))


def hostile_trace(text: str) -> str:
    """A graded run that says ``text`` wherever a string is free."""
    said = {"project_run_id": text, "event_id": text, "dispatch_id": text, "round_id": text}
    events: list[dict[str, object]] = [
        {"event_type": "project-started", "project_slug": text},
        {"event_type": "spec-authored", "spec_path": text},
        {"event_type": "spec-amended", "spec_path": text, "sections_changed": [text]},
        {"event_type": "plan-authored", "plan_path": text},
        {"event_type": "slice-started", "slice_slug": text, "linear_ref": text},
        {"event_type": "slice-completed", "slice_slug": text, "pr_ref": text},
        {"event_type": "triage-verdict", "input_ref": text},
        {"event_type": "falsified-assumption", "artifact_path": text, "assumption_summary": text},
        {
            "event_type": "dispatch-start",
            "dispatch_name": text,
            "subagent_type": text,
            "model": text,
        },
        {"event_type": "round-start"},
        {"event_type": "brief-issued", "brief_content_hash": text, "brief_disposition": "amended"},
        {"event_type": "round-end", "wall_clock_ms": 10**300},
        {"event_type": "dispatch-end", "wall_clock_ms": 10**308, "ts": text},
        {"event_type": "tokens-recorded", "input_tokens": 10**300},
        {"event_type": "correctness-recorded"},
        {"event_type": "correctness-recorded", "qa": text},
        {"event_type": text},
    ]
    return "".join(json.dumps(_filled(each, said)) + "\n" for each in events)


def _filled(event: dict[str, object], said: dict[str, str]) -> dict[str, object]:
    (line,) = trace("EVENT" + json.dumps({"event_type": event["event_type"]})).splitlines()
    example = json.loads(line)
    return {**example, **{name: said[name] for name in said if name in example}, **event}
