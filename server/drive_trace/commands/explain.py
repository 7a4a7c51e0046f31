"""``drive-trace explain``: what a rule is about."""

import re
import sys
from functools import partial
from typing import Any

import click

from drive_trace.commands import options
from drive_trace.commands.terminal import EXIT_UNUSABLE, Ended, frame_columns
from drive_trace.linter.rule import Rule
from drive_trace.linter.rules import RULES
from drive_trace.storage.linked_files import rule_page
from drive_trace.text import spans, wording
from drive_trace.text.document import wrapped
from drive_trace.vocabulary.slips import nearest

_BOLD = re.compile(r"\*\*(.+?)\*\*|^#+ (.+)$", re.MULTILINE)
_EMPHASIS = re.compile(r"(?<![*\w])\*([^*\n]+)\*(?!\*)")
_WORD = 3
"""Fewer letters are in too many names."""
_MOST_NAMES = 5
_FENCE = re.compile(r"^```.*\n((?:.*\n)*?)```$", re.MULTILINE)
_WITHIN = re.compile(r"(?<=\S)\n(?=[^\s#-])")
"""The end of a line within a paragraph."""
_EXCERPT = re.compile(r"^(\d+ \| )(.*)(?:\n( +\| )( *)(\^+))?$", re.MULTILINE)


@click.command()
@click.argument("code", required=False, shell_complete=options.complete_rules)
@options.output_format(
    ["text", "markdown", "json"],
    default="text",
    show_default=True,
    help="text is for a terminal, json for programs.",
)
def explain(code: str | None, output_format: str) -> None:
    """Explain the rule called CODE: why it matters, an example, its fix and its options.

    CODE stands in brackets behind a finding's severity. Without one, all rules are listed.

    Exit code: 0, or 2 where no rule is called CODE.

    \b
    Examples:
      drive-trace explain
      drive-trace explain unknown-value
      drive-trace explain erased-verdict --format markdown
    """
    if code is None:
        click.echo(_list(output_format))
        return
    rule = RULES.get(code.strip().lower().replace("_", "-"))
    if rule is None:
        raise Ended(EXIT_UNUSABLE, unknown_rule(code))
    # A package without its pages is broken, but knows this much.
    page = (rule_page(rule.code) or f"# {rule.code}\n\n{rule.summary}").rstrip()
    if output_format == "json":
        page = wording.json_document({**_facts(rule), "page": page})
    elif output_format == "text":
        page = _without_marks(page, frame_columns(sys.stdout))
    click.echo(page)


def unknown_rule(code: str) -> str:
    """Why a code is none, and what may have been meant."""
    guess = nearest(code, RULES)
    words = {each for each in re.split(r"[^a-z0-9]+", code.lower()) if len(each) >= _WORD}
    names = [each for each in RULES if words and all(word in each for word in words)]
    names = names or ([guess] if guess is not None else [])
    names = names or [each for each in RULES if not words.isdisjoint(each.split("-"))]
    hint = "`drive-trace explain` lists them all"
    if names:
        quoted = (f'"{each}"' for each in names[:_MOST_NAMES])
        hint = f"did you mean {wording.listed(quoted, 'or')}?"
    return f'no rule is called "{wording.printable(code)}"; {hint}'


def _without_marks(page: str, columns: int | None) -> str:
    """The page without the marks that are for a renderer, fitted to a terminal of some columns."""
    parts = _FENCE.split(_EMPHASIS.sub(r"\1", page))
    for at, part in enumerate(parts):
        indent, text = "    " * (at % 2), part.rstrip("\n") if at % 2 else part
        lines = [[f"{indent}{each}"] for each in text.split("\n")]
        if columns is not None:
            text = _EXCERPT.sub(partial(_cut, columns), text) if indent else _WITHIN.sub(" ", text)
            lines = [wrapped(each, indent, columns, indent[2:]) for each in text.split("\n")]
        parts[at] = "\n".join("\n".join(each) for each in lines)
    return _BOLD.sub(lambda found: click.style(found[1] or found[2], bold=True), "".join(parts))


def _cut(columns: int, found: re.Match[str]) -> str:
    """An excerpt around its mark. Without one, what matters is near an end that is not cut."""
    from drive_trace.commands.formats import excerpt  # noqa: PLC0415 - for a terminal alone

    number, text, gutter, before, mark = found.groups("")
    start = len(before) if mark else len(text) * (not text.endswith("…"))
    shown, carets = excerpt(text, spans.Span(start, start + len(mark)), columns - len(number) - 4)
    return f"{number}{shown}\n{gutter}{carets}" if mark else f"{number}{shown}"


def _list(output_format: str) -> str:
    """All rules."""
    rules = RULES.values()
    if output_format == "json":
        return wording.json_document([*map(_facts, rules)])
    if output_format == "markdown":
        head = "| rule | severity | finds |\n| --- | --- | --- |"
        rows = [f"| `{each.code}` | {each.severity.label} | {each.summary} |" for each in rules]
        return "\n".join([head, *rows])
    width = max(map(len, RULES))
    beside, room = "\n" + " " * (width + 15), (frame_columns(sys.stdout) or 1000) - width - 15
    return "\n".join(
        f"{click.style(each.code.ljust(width), bold=True)}  {each.severity.label:<11}  "
        f"{beside.join(wrapped(each.summary, '', max(room, 1), ''))}"
        for each in rules
    )


def _facts(rule: Rule[Any]) -> dict[str, object]:
    return {
        "code": rule.code,
        "severity": rule.severity.label,
        "summary": rule.summary,
        "options": [
            {
                "name": option.name,
                "default": option.default,
                "minimum": 0,
                "description": option.prose,
            }
            for option in rule.options
        ],
    }
