"""Writes everything that is generated from the declarations: schemas, rule pages, the
extension's settings and the words that it colours, reference docs.

With ``--check`` nothing is written; it names the stale files and exits with 1 if there are any.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import TextWrapper
from typing import Any
from unittest.mock import patch

import click
import msgspec
from click.testing import CliRunner

with patch("msgspec.json.decode", side_effect=msgspec.DecodeError):
    # All is made of the declarations, whatever was written down of them.
    import drive_trace.vocabulary  # noqa: F401

from drive_trace import __version__
from drive_trace.analysis import Analysis
from drive_trace.commands import COMMANDS, cli
from drive_trace.commands.formats import excerpt
from drive_trace.comparison.runs import RunManifest
from drive_trace.grading.judgements import Calibrated, Gating, Judgement
from drive_trace.linter.rule import Finding, Level, Rule, Severity, UnreadFile
from drive_trace.linter.rules import RULES, SETTABLE, documentation
from drive_trace.linter.told import MISSING, OF_RUN, ON, WITHIN
from drive_trace.text.spans import Span, encode_exactly
from drive_trace.text.wording import listed, printable
from drive_trace.trace.provenance import Entry
from drive_trace.vocabulary import ENVELOPE, EVENTS, WRITTEN, Family, FieldType, OneOfShape
from drive_trace.vocabulary.declared import VOCABULARY

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # how examples are written is known to the tests

from tests.support.fixtures import analysis_of, provenance_of  # noqa: E402
from tests.support.fixtures import read as read_fixture  # noqa: E402
from tests.support.rule_examples import Example, examples_of  # noqa: E402
from tools.agent_plugin import manifest as plugin_manifest  # noqa: E402
from tools.agent_plugin import skill  # noqa: E402
from tools.event_faults import event_faults  # noqa: E402
from tools.features_page import features_page  # noqa: E402
from tools.grammar import grammar  # noqa: E402
from tools.json_schemas import (  # noqa: E402
    configuration_schema,
    event_schema,
    record_schema,
    suite_schema,
    union_schema,
)
from tools.rule_faults import rule_faults  # noqa: E402
from tools.settings_pages import extension_manifest, settings_reference, with_settings  # noqa: E402

COMMAND = "make generate"
_WRAPPED = TextWrapper(100, break_on_hyphens=False, break_long_words=False)


def generated() -> Iterator[tuple[Path, str]]:
    """Every generated file with the text that it should have."""
    yield Path(WRITTEN), _json(msgspec.to_builtins(VOCABULARY))
    schemas = {"event": union_schema()} | {
        each.name: event_schema(each) for each in EVENTS.values()
    }
    for name, schema in schemas.items():
        yield ROOT / f"schemas/{name}.schema.json", _json(schema)
    # These are written by hand: they promise what a command writes, and tests hold it to that.
    outputs = {
        f"output:{path.name.partition('.')[0]}": json.loads(path.read_text("utf-8"))
        for path in sorted((ROOT / "schemas/output").glob("*.json"))
    }
    yield ROOT / "server/drive_trace/event_schemas.json", _one_a_line(schemas | outputs)
    yield ROOT / "schemas/configuration.schema.json", _json(configuration_schema())
    for name, record in {
        "judgement": Judgement,
        "gating": Gating,
        "calibration": Calibrated,
        "provenance": Entry,
        "run-manifest": RunManifest,
    }.items():
        yield ROOT / f"schemas/{name}.schema.json", _json(record_schema(name, record))
    yield ROOT / "schemas/suite.schema.json", _json(suite_schema())
    for rule in RULES.values():
        yield ROOT / f"docs/rules/{rule.code}.md", rule_page(rule)
    yield ROOT / "docs/rules.md", rules_reference()
    yield ROOT / "docs/events.md", events_reference()
    yield ROOT / "docs/cli.md", cli_reference()
    yield ROOT / "docs/settings.md", settings_reference(_notice())
    yield ROOT / "docs/features.md", features_page(_notice())
    yield ROOT / "docs/reliability.md", reliability_page()
    manifest = ROOT / "vscode-client/package.json"
    colours = ROOT / "vscode-client/syntaxes/drive-trace.tmLanguage.json"
    yield colours, _json(grammar(json.loads(colours.read_text("utf-8"))))
    words = ROOT / "vscode-client/package.nls.json"
    addresses = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]
    contents, texts = extension_manifest(
        json.loads(manifest.read_text("utf-8")), json.loads(words.read_text("utf-8")), addresses
    )
    yield manifest, _json({**contents, "version": __version__})
    yield words, _json(texts)
    for example in ("projects/checkout-retry", "projects/typical-mistakes", "wip/drive-trace"):
        (trace,) = (ROOT / "examples" / example).glob("*.jsonl")
        name = trace.stem if example.startswith("wip") else trace.parent.name
        yield ROOT / f"vscode-client/media/examples/{name}.jsonl", trace.read_text("utf-8")
    plugin = ROOT / "editors/claude-code"
    yield plugin / ".claude-plugin/plugin.json", _json(plugin_manifest(__version__, addresses))
    yield plugin / "skills/drive-trace/SKILL.md", skill(_notice())
    page = ROOT / "docs/vscode.md"
    yield page, with_settings(page.read_text("utf-8"), contents, texts)


def reliability_page() -> str:
    """What survives which fault: the tables that tests/storage/test_faults.py writes."""
    head, _, text = (ROOT / "tools/reliability.md").read_text("utf-8").partition("\n")
    for table in (ROOT / "tests/snapshots/faults").glob("*.md"):
        assert f"<!-- {table.stem} -->" in text
        text = text.replace(f"<!-- {table.stem} -->", table.read_text("utf-8"))
    return f"{head}\n\n{_notice()}\n{text}"


def rule_page(rule: Rule[Any]) -> str:
    """A rule's page in Markdown: why it matters, its fix, an example, and its options."""
    return "\n".join(
        [
            f"# {rule.code}",
            "",
            f"*{rule.severity.label.capitalize()} by default.* {rule.summary}",
            "",
            documentation(rule),
            "",
            *_telling(rule),
            "**Example.** What `drive-trace check` says:",
            "",
            "```text",
            example_output(rule),
            "```",
            "",
            *_other_lines(rule),
            *_after_the_fix(rule),
            *_near_miss(rule),
            *_options(rule),
            "",
        ]
    )


def _telling(rule: Rule[Any]) -> list[str]:
    """Which of its findings are told as one, and beside which others they are not told."""
    said = []
    if rule.sums is not None:
        where = "on one line, or alike on many," if rule.sums_by == "line" else "in a run"
        same = " of one value" if rule.sums_by == "value" else ""
        said.append(f"Several{same} {where} are one finding, with all places.")
    causes = [f"`{code}`" for each in (ON, WITHIN, OF_RUN) for code in each.get(rule.code, ())]
    causes += ["a rejected line that may have it"] * (rule.code in MISSING)
    if causes:
        said.append(f"What follows from {listed(causes, 'or')} is not told beside it.")
    return [*_WRAPPED.wrap(f"**Told once.** {' '.join(said)}"), ""] if said else []


def example_output(rule: Rule[Any]) -> str:
    """What ``check`` prints for the first example of a rule, without what other rules say."""
    example = _marked_example(rule)
    files = {"other.jsonl": example.beside} if example.beside is not None else {}
    files[example.path or "trace.jsonl"] = example.before
    with TemporaryDirectory() as folder, chdir(folder):
        if example.head is not None:
            _commit(Path("trace.jsonl"), read_fixture(example.head).text)
        for name, text in files.items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            source = read_fixture(text).text
            is_other = example.encoding != "utf-8"
            data = source.encode(example.encoding) if is_other else encode_exactly(source)
            Path(name).write_bytes(data)
        if example.recorded is not None:
            record = provenance_of(read_fixture(example.recorded).text)
            Path("trace.jsonl.provenance.ndjson").write_text(record, "utf-8")
        output = CliRunner().invoke(cli, ["check", "--select", rule.code, *files]).stdout
    shown = next(part for part in output.split("\n\n") if f"[{rule.code}]" in part)
    return "\n".join(line.rstrip() for line in shown.splitlines())


def _marked_example(rule: Rule[Any]) -> Example:
    return next(each for each in examples_of(rule.code) if read_fixture(each.before).marks)


def _first_finding(rule: Rule[Any], example: Example) -> tuple[Analysis, Finding] | None:
    """What the rule finds first in an example of one file."""
    if example.beside is not None or rule.looks_at is UnreadFile:
        return None
    analysis = analysis_of(example)
    return next(((analysis, each) for each in analysis.findings() if each.rule is rule), None)


def _other_lines(rule: Rule[Any]) -> Iterator[str]:
    """The other lines of the example that the finding is about."""
    found = _first_finding(rule, _marked_example(rule))
    related = [] if found is None else [e for e in found[1].related if e.line is not found[1].line]
    if found is None or not related:
        return
    analysis = found[0]
    yield from ("It is about these lines, too:", "", "```text")
    for each in related:
        record, span = analysis.where(each)
        yield f"{record + 1}: {analysis.message(each.message)}"
        yield from _shown(each.line.text, span, record + 1)
    yield from ("```", "")


def _after_the_fix(rule: Rule[Any]) -> Iterator[str]:
    """The lines of the first example with a fix that this changes."""
    example = next((each for each in examples_of(rule.code) if each.after is not None), None)
    found = _first_finding(rule, example) if example is not None else None
    if example is None or found is None:
        return
    analysis, finding = found
    fix = next(each for each in analysis.fixes(finding) if example.fix in (None, each.title))
    before = read_fixture(example.before).text.split("\n")
    after = read_fixture(example.after or "").text.split("\n")
    yield from (f"**After the fix** *{fix.title}*, the text is:", "", "```text")
    changed = [number for number, text in enumerate(after) if text not in before]
    for number in changed or range(len(after) - 1):
        old = before[number] if number < len(before) else ""
        start = next(
            (at for at, (a, b) in enumerate(zip(old, after[number], strict=False)) if a != b), 0
        )
        excerpt, _ = _shown(after[number], Span(start, start), number + 1)
        yield excerpt
    yield from ("```", "")


def _near_miss(rule: Rule[Any]) -> Iterator[str]:
    """The first example in which the rule finds nothing; fields of no interest are left out."""
    example = next(each for each in examples_of(rule.code) if not read_fixture(each.before).marks)
    lines = [line.strip() for line in example.before.strip("\n").splitlines() if line.strip()]
    yield from ("**Not found.** Of this, where `…` are the other fields, it says nothing:", "")
    yield from (
        "```text",
        *(printable(_MORE.sub("{…,", line), _WIDEST) for line in lines),
        "```",
        "",
    )


_MORE = re.compile(r"\bEVENT\{")
_WIDEST = 180


def _shown(text: str, span: Span, number: int) -> tuple[str, str]:
    shown, carets = excerpt(text.removesuffix("\r"), span)
    gutter = " " * len(str(number))
    return f"{number} | {shown}".rstrip(), f"{gutter} | {carets}"


def _commit(path: Path, text: str) -> None:
    """Commit a file to a new repository in the current folder."""
    path.write_text(text, "utf-8", newline="\n")
    who = ("-c", "user.name=ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")
    for arguments in (("init", "-q"), ("add", "."), ("commit", "-q", "--no-verify", "-m", "trace")):
        subprocess.run(["git", *who, *arguments], check=True)  # noqa: S603, S607 - fixed words


def _options(rule: Rule[Any]) -> list[str]:
    levels = ", ".join(f"`{severity.label}`" for severity in Severity)
    where = "below `[rules]` in `drive-trace.toml`"
    if rule.code not in SETTABLE:
        return ["**Options.** None, and no configuration and no baseline hides it."]
    if not rule.options:
        return [
            f"**Options.** `{rule.code} = …` {where}",
            f"sets how severe it is: {levels} or `off`.",
        ]
    settings = [f"[rules.{rule.code}]", f'severity = "{rule.severity.label}"']
    settings += [f"{option.name} = {json.dumps(option.default)}" for option in rule.options]
    return [
        "**Options.** In `drive-trace.toml`, with their defaults. How severe it is can be",
        f"{levels} or `off`.",
        "",
        "```toml",
        *settings,
        "```",
        "",
        *(f"- `{option.name}`: {option.prose}" for option in rule.options),
    ]


def rules_reference() -> str:
    """A list of all rules, each with a link to its page, and how its fixes are made."""
    rows = []
    for rule in RULES.values():
        levels = fix_levels(rule)
        made = "".join(f" {'yes' if level in levels else ''} |" for level in Level)
        link = f"[`{rule.code}`](rules/{rule.code}.md)"
        rows.append(f"| {link} | {rule.severity.label} | {rule.summary} |{made}")
    return "\n".join(["# Rules", "", _notice(), "", *_FIXES, *rows, ""])


_FIXES = (
    "The last three columns say how the fixes of a rule are made. `drive-trace check --fix` and",
    "fix-all in editors make what is *safe*; `--unsafe-fixes` also makes what can be made *in bulk",
    "on request*; the rest is for a person in an editor, *one at a time*. No fix that is made in",
    "bulk deletes what somebody wrote, changes an id, an outcome or a number that its field takes,",
    "or changes what a line says of a grade or of tokens.",
    "",
    "| rule | severity | finds | safe | in bulk on request | one at a time |",
    "| --- | --- | --- | --- | --- | --- |",
)


def fix_levels(rule: Rule[Any]) -> set[Level]:
    """How the fixes of a rule are made, as its examples show it."""
    return {
        fix.level
        for example in examples_of(rule.code)
        for analysis in [analysis_of(example)]
        for finding in analysis.findings()
        if finding.rule is rule
        for fix in analysis.fixes(finding)
    }


def events_reference() -> str:
    """The vocabulary on one page."""
    lines = ["# Events", "", _notice(), "", "## The envelope", ""]
    lines += ["Every event carries these fields, flat beside its own.", ""]
    lines += _field_table(ENVELOPE)
    for family in Family:
        lines += ["", f"## {family.value.capitalize()}"]
        for event in EVENTS.values():
            if event.family is family:
                own = {name: each for name, each in event.fields.items() if name not in ENVELOPE}
                lines += ["", f"### {event.name}", "", event.prose, "", *_field_table(own)]
                example = json.dumps(event.example, ensure_ascii=False, separators=(",", ":"))
                lines += ["", "```json", example, "```"]
    return "\n".join([*lines, ""])


def _field_table(fields: Mapping[str, FieldType]) -> list[str]:
    rows = [
        f"| `{name}` | {field.describe()} | {field.prose}{_meanings(field)} |"
        for name, field in fields.items()
    ]
    return ["| field | type | meaning |", "| --- | --- | --- |", *rows]


def _meanings(field: FieldType) -> str:
    if not isinstance(field.shape, OneOfShape) or len(field.shape.meanings) < 2:
        return ""
    meanings = "; ".join(f"`{value}`: {what}" for value, what in field.shape.meanings.items())
    return f" {meanings}."


def cli_reference() -> str:
    """What ``--help`` says, command by command."""
    lines = ["# Command line", "", _notice()]
    for name in ("", *_commands()):
        arguments = [*name.split(), "--help"]
        shown = CliRunner().invoke(cli, arguments, prog_name="drive-trace", terminal_width=100)
        lines += [
            "",
            f"## drive-trace {name}".rstrip(),
            "",
            "```text",
            shown.output.rstrip(),
            "```",
        ]
    return "\n".join([*lines, ""])


def _commands() -> Iterator[str]:
    """All commands, and below each those in it."""
    for name in COMMANDS:
        yield name
        command = cli.get_command(click.Context(cli), name)
        if isinstance(command, click.Group):
            yield from (f"{name} {each}" for each in command.commands)


def _notice() -> str:
    return f"<!-- Generated from the declarations by `{COMMAND}`: change those, not this file. -->"


def _one_a_line(values: Mapping[str, object]) -> str:
    """A JSON object with a line for each member, so that a change of one is a change of a line."""
    lines = (
        f"{json.dumps(name)}:{json.dumps(value, ensure_ascii=False, separators=(',', ':'))}"
        for name, value in values.items()
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def main() -> int:
    """Write the generated files, or with ``--check`` compare them."""
    parser = argparse.ArgumentParser(description="Write the generated files.")
    parser.add_argument("--check", action="store_true", help="only say which files are stale")
    check = parser.parse_args().check
    faults = [*event_faults(), *rule_faults()]
    if faults:
        click.echo("\n".join(faults), err=True)
        return 1
    wanted = dict(generated())
    present = {
        *ROOT.glob("schemas/*.json"),
        *ROOT.glob("docs/rules/*.md"),
    }
    stale = [path for path, text in wanted.items() if _read(path) != text]
    dead = sorted(present - set(wanted))
    if check:
        for path in [*stale, *dead]:
            click.echo(f"{path.relative_to(ROOT)} is stale: run `{COMMAND}`", err=True)
        return 1 if stale or dead else 0
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f"{path.name}.new")
        new.write_text(wanted[path], encoding="utf-8", newline="\n")
        new.replace(path)
    for path in dead:
        path.unlink()
    return 0


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


if __name__ == "__main__":
    sys.exit(main())
