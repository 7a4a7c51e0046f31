"""docs/features.md: what each feature of the editor does, how it is called, and a capture of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.support.changing import formatted
from tools import captures
from tools.captures import code, trace_shown

from drive_trace.text.spans import PositionEncoding

_PATH = "file:///shop/projects/checkout-retry/trace.jsonl"
_DISPATCH = "c7321cc0-07b3-4e14-9980-92253deffa38"
_ROUND = "a3ea284d-3bd0-4346-84e5-5160320094ea"
_START = (
    f'EVENT{{"event_type":"dispatch-start","ts":"2026-05-28T14:01:00.000Z","dispatch_id":"{_DISPATCH}"'
    ',"dispatch_name":"D1 retry policy","model":"sonnet"}'
)
_OPEN = f"""
EVENT{{"event_type":"slice-started","slice_slug":"01-retry-policy"}}
{_START}
EVENT{{"event_type":"round-start","ts":"2026-05-28T14:02:00.000Z","dispatch_id":"{_DISPATCH}","round_id":"{_ROUND}"}}
"""
_ENDED = f"""{_OPEN.rstrip()}
EVENT{{"event_type":"round-end","ts":"2026-05-28T14:26:00.000Z","dispatch_id":"{_DISPATCH}","round_id":"{_ROUND}","wall_clock_ms":5400000}}
EVENT{{"event_type":"dispatch-end","ts":"2026-05-28T14:27:00.000Z","dispatch_id":"{_DISPATCH}","wall_clock_ms":1560000}}
"""
_COSTED = f"""{_ENDED.rstrip()}
EVENT{{"event_type":"tokens-recorded","ts":"2026-05-28T14:28:00.000Z","cache_write_tokens":null}}
EVENT{{"event_type":"correctness-recorded","ts":"2026-05-28T14:29:00.000Z","mechanical":"pass","qa":"pass","intent":null}}
"""
_GRADED = (
    'EVENT{"event_id":"5d0e7c1a-8f0d-4c1b-9a3e-5d2f6a7b8c90","event_type":"correctness-recorded"'
    ',"ts":"2026-05-28T16:00:00.000Z"}'
)
_LOOSE = (
    '{ "qa": "pass", "ts": "2026-05-28T14:29:00.000Z", "event_type": "correctness-recorded", '
    '"event_id": "0b6f2c5e-8f0d-4c1b-9a3e-5d2f6a7b8c90", "schema_version": "1", '
    '"project_run_id": "checkout-retry", "orchestrator_agent_id": null, '
    '"mechanical": "p\\u0061ss", "intent": null }\n'
)
_MISTAKE = 'EVENT{"event_type":"round-end","verdict":"another-round$0"}'

_HEAD = Path(__file__).with_name("features_head.md")
"""What stands above the sections: how each feature is called."""


def features_page(notice: str) -> str:
    """The whole page."""
    sections: tuple[Callable[[], list[str]], ...] = (
        _completion,
        _diagnostics,
        _actions,
        _hover,
        _navigation,
        _structure,
        _aids,
        _formatting,
        _rename,
        _live,
    )
    lines = ["# What the editor does", "", notice, "", _HEAD.read_text("utf-8").rstrip()]
    for section in sections:
        lines += ["", *section()]
    return "\n".join([*lines, ""])


def _completion() -> list[str]:
    place = f"{_OPEN.rstrip()}\n$0"
    half = _OPEN.rstrip() + '\n{"event_type":"round-end","verdict":"sat$0'
    named = _OPEN.rstrip() + '\n{"event_type":"dispatch-end","dispatch_id":"retry$0"}'
    return [
        "## Completion",
        "",
        "On an empty line, or after `{`, whole events are offered: those that come next first. The "
        "one you take brings its envelope, the ids of what stands open, and what can be measured; "
        "what only you can say is left for you to fill in. A grade is repeated as it was recorded, "
        "unless the run went on since. The letters you type pick by the event's name.",
        "",
        *trace_shown(place),
        "",
        *captures.completions(place, _PATH, 4),
        "",
        "Taking `round-end` writes this line, and stops at each `‹…›`:",
        "",
        *code(captures.completed(place, "round-end", _PATH)),
        "",
        "Within a line, missing fields come first, then the values that a field can have. It works "
        "in lines that are only half there, and never doubles a quote or a comma.",
        "",
        *trace_shown(half.split("\n")[-1]),
        "",
        *captures.completions(half, _PATH, 4),
        "",
        "Ids are found by what they name.",
        "",
        *trace_shown(named.split("\n")[-1]),
        "",
        *captures.completions(named, _PATH, 4),
    ]


def _diagnostics() -> list[str]:
    mistakes = _MISTAKE.replace("$0", "").replace('"verdict"', '"wall_clock_ms":null,"verdict"')
    return [
        "## Diagnostics",
        "",
        "What readers of traces reject is underlined on the token that is wrong, as is what else "
        "looks wrong. [rules.md](rules.md) shows all rules, each with an example.",
        "",
        *trace_shown(mistakes),
        "",
        *captures.found(mistakes),
    ]


def _actions() -> list[str]:
    lacking = _OPEN.rstrip() + '\n{"event_type":"round-end"$0}'
    graded = _COSTED.rstrip().replace('EVENT{"event_type":"slice', 'EVENT{$0"event_type":"slice')
    opened = _OPEN.replace('EVENT{"event_type":"round', 'EVENT{$0"event_type":"round').rstrip()
    opened += f'\nEVENT{{"event_type":"brief-issued","dispatch_id":"{_DISPATCH}"}}'
    brief = 'EVENT{"event_type":"spec-authored"$0,"byte_length":0}'
    return [
        "## Code actions",
        "",
        "**Fix.** Every finding that can be mended brings its fixes. None makes up a value or "
        "drops a record: what a tear may have cut, and a record in other text, is left to you. "
        "`source.fixAll.driveTrace` makes all safe ones of a file. Behind them a finding can be "
        "added to the baseline, its rule turned off for the file or for the project, and the "
        "rule's page shown. Comments and layout of the project's files stay.",
        "",
        *trace_shown(_MISTAKE),
        "",
        *captures.fixes(_MISTAKE),
        "",
        "**Fill in.** A line that lacks what its run tells has it filled in.",
        "",
        *trace_shown(lacking.split("\n")[-1]),
        "",
        *captures.known(lacking),
        "",
        "**Record a grade**, by a command of its own: no menu of actions has one, as its first "
        "entry must not grade a run. Clients ask for the kind `refactor.driveTrace.record`. What "
        "was recorded before is carried on; where the run went on since, the title says so.",
        "",
        *captures.added(graded, "Record intent: pass → CORRECT"),
        "",
        "**Close** the dispatch or round that a line belongs to; at the end of the file, each of "
        "the last four that are open. How long it took is measured, but not if it was open for "
        "over a day. That, or a count that nobody has told yet, is an error until you fill it in.",
        "",
        *captures.added(opened, "Close dispatch D1 retry policy: completed"),
        "",
        "**Fill in the length of a file** that a line names, and its hash, where the workspace has "
        "it.",
        "",
        *captures.measured(brief, 8204),
    ]


def _hover() -> list[str]:
    marked = _COSTED.rstrip()
    cases = {
        "A run id: the scorecard": marked.replace(
            '"correctness-recorded"', '"correctness-recorded","project_run_id":"$0checkout-retry"'
        ),
        "A dispatch": marked.replace(f'"{_DISPATCH}","wall', f'"$0{_DISPATCH}","wall'),
        "A time": marked.replace('"2026-05-28T14:26', '"$02026-05-28T14:26'),
        "A duration": marked.replace("5400000", "5$0400000"),
        "A value": _MISTAKE.replace("another-round$0", "satis$0fied"),
    }
    lines = [
        "## Hover",
        "",
        "Everything in a trace explains itself: events, fields, values, ids, times, durations, "
        "paths, hashes, and the rules that found something.",
    ]
    for title, fixture in cases.items():
        lines += ["", f"### {title}", "", *captures.hovered(fixture)]
    return lines


def _navigation() -> list[str]:
    fixture = _ENDED.rstrip().replace(f'"{_DISPATCH}","wall', f'"$0{_DISPATCH}","wall')
    return [
        "## Definition, references, highlights",
        "",
        "The ids of dispatches, rounds, slices, runs and events lead to where they were started, "
        "and to all lines that name them; an event's type leads to what the event belongs to. A "
        "path opens its file, and leads to the event that wrote it if the workspace has no such "
        "file. For the dispatch of the last line here:",
        "",
        *trace_shown(fixture),
        "",
        *captures.mentions(fixture),
        "",
        "Runs, slices and dispatches of every trace in the workspace are found by their names, as "
        "workspace symbols. `retry` finds:",
        "",
        *captures.symbols(_ENDED, "retry"),
    ]


def _structure() -> list[str]:
    inside = _ENDED.rstrip().replace("1560000", "15$060000")
    return [
        "## Outline, folding, selection",
        "",
        "The outline shows runs, slices, dispatches, rounds and lines, each in what it is in.",
        "",
        *captures.outline(_COSTED),
        "",
        "The same can be folded (lines, and what is shown of them where the editor can):",
        "",
        *captures.folded(_ENDED),
        "",
        "A selection grows from the value to its pair, its event and what that is in. From "
        "`15▮60000`:",
        "",
        *captures.selected(inside),
    ]


def _aids() -> list[str]:
    ended = 'EVENT{"event_type":"slice-completed","result":"merged","pr_ref":null}'
    link = (
        'EVENT{"event_type":"spec-authored"}\n'
        'EVENT{"event_type":"slice-completed","pr_ref":"https://example.org/pull/7"}'
    )
    return [
        "## Inlay hints",
        "",
        "Durations, token counts and sizes in short, what the clock says where a claim is far from "
        "it, and names behind ids. Each kind is a setting.",
        "",
        *captures.hinted(_COSTED),
        "",
        "## Semantic colours",
        "",
        "Event types by family, ids, choices, times and numbers each have a colour, whatever the "
        "theme.",
        "",
        *captures.coloured(ended),
        "",
        "## Links",
        "",
        "Paths lead to their files in the workspace. Tickets and pull requests lead where "
        "[two settings](settings.md) say, or where they say themselves.",
        "",
        *captures.linked(link),
    ]


def _formatting() -> list[str]:
    after = formatted(_LOOSE, PositionEncoding.UTF16)
    return [
        "## Formatting",
        "",
        "Compact lines. Nothing but white space changes: keys keep their order, values stay as "
        "they are written. A record that is spread over lines, and each of several on a line, gets "
        "a line of its own, but for the two feeds; any other line that is no JSON stays untouched.",
        "",
        *code(_LOOSE.strip()),
        "",
        "becomes",
        "",
        *code(after.strip()),
    ]


def _rename() -> list[str]:
    fixture = _ENDED.rstrip().replace("01-retry-policy", "01-re$0try-policy")
    return [
        "## Rename",
        "",
        "A run, slice, dispatch or round gets another id wherever the trace names it. Two "
        "are never made one. What becomes of the lines above that name `01-retry-policy`:",
        "",
        *captures.renamed(fixture, "01-capped-retry"),
    ]


def _live() -> list[str]:
    correct = _COSTED.replace('"intent":null', '"intent":"pass"')
    return [
        "## Lenses, and traces that grow",
        "",
        "Over a run's first line stands its verdict, and over each grade what it decides. Both "
        "follow every keystroke, and what others append to the file or to other traces of the "
        "workspace that hold the run.",
        "",
        "As above, without a word on `intent`:",
        "",
        *captures.lenses(_COSTED),
        "",
        "With it:",
        "",
        *captures.lenses(correct),
        "",
        "Where other traces of that folder of the workspace hold the run, too, its verdict is that "
        "of all of them together. It comes first, then what this file alone says where that "
        "differs, and which file decides; *so far* stands behind it until all are read. The lens:",
        "",
        *captures.joined(_ENDED, _GRADED),
        "",
        "A click on the lens over a run opens its scorecard and report. "
        "[settings.md](settings.md) lists what can be set.",
    ]
