"""Finds the mistakes in the declarations of rules. Names the file of each, and what to do."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from tests.support.fixtures import analysis_of, records
from tests.support.fixtures import read as read_fixture
from tests.support.rule_examples import examples_of

from drive_trace.linter import rules
from drive_trace.linter.rule import (
    LineDiagnostic,
    Rule,
    SameDispatch,
    SameFile,
    SameId,
    Severity,
    SharedEvents,
    UnreadFile,
    WholeTrace,
)
from drive_trace.trace.line import REJECTING, DiagnosticKind, Line
from drive_trace.trace.reading import read_exactly, read_lines
from drive_trace.trace.run import Run
from drive_trace.vocabulary import AGREEMENTS, Form

_OF_FILES = (SharedEvents, UnreadFile)
_SUBJECTS = (Run, SameId, SameFile, SameDispatch, WholeTrace, *_OF_FILES)
_AGREEING = {each.code for agreements in AGREEMENTS.values() for each in agreements}
_KINDS = {*DiagnosticKind, *_AGREEING, *(form.code for form in Form)}
"""The codes of all that can be wrong with one line."""
_PACKAGE = "server/drive_trace"
_LINE = f"{_PACKAGE}/trace/line.py"
_FIELDS_AGREE = f"{_PACKAGE}/vocabulary/__init__.py"


def rule_faults() -> Iterator[str]:
    """Every fault, in a sentence. Leaves out those that may only follow from others."""
    names = sorted(each.name for each in pkgutil.iter_modules(rules.__path__))
    modules = {name: import_module(f"{rules.__name__}.{name}") for name in names}
    for look in (_faults_of_modules, _faults_of_kinds, _faults_of_rules):
        faults = [*look(modules)]
        if faults:
            yield from faults
            return


def _faults_of_modules(modules: Mapping[str, Any]) -> Iterator[str]:
    for name, module in modules.items():
        if not isinstance(getattr(module, "RULE", None), Rule):
            yield f"{_file(name)}: the file declares no rule: add `RULE = Rule(…)`"


def _faults_of_rules(modules: Mapping[str, Any]) -> Iterator[str]:
    for name, module in modules.items():
        faults = [*_faults_of_parts(name, module)]
        faults = faults or [*_faults_of_examples(module.RULE)]
        yield from (f"{_file(name)}: {fault}" for fault in faults)


def _file(name: str) -> str:
    return f"{_PACKAGE}/linter/rules/{name}.py"


def _faults_of_kinds(modules: Mapping[str, Any]) -> Iterator[str]:
    declared = [module.RULE for module in modules.values()]
    found_by = {rule.code for rule in declared if rule.looks_at is LineDiagnostic}
    for code in sorted(_KINDS - found_by):
        file = _file(code.replace("-", "_"))
        where = _LINE if code in set(DiagnosticKind) else _FIELDS_AGREE
        yield f"{where} has `{code}`, but no rule has that code: add {file}"


def _faults_of_parts(name: str, module: Any) -> Iterator[str]:
    rule: Rule[Any] = module.RULE
    code = name.replace("_", "-")
    if rule.code != code:
        yield f"its check is a function of {rule.check.__module__}: define it in this file"
        return
    if "**Fix.**" not in (module.__doc__ or ""):
        yield "the docstring, which is the rule's page, needs a paragraph `**Fix.** …`"
    marked = [bool(read_fixture(each.before).marks) for each in examples_of(code)]
    if True not in marked:
        yield "the docstring needs, below `Examples:`, one with `^^^` marks under what it finds"
    if False not in marked:
        yield "the docstring needs, below `Examples:`, a near miss: one without marks"
    if rule.looks_at is LineDiagnostic:
        if code not in _KINDS:
            yield f"the rule never runs: add `{code}` to DiagnosticKind in {_LINE}"
        elif (rule.severity is Severity.ERROR) is not (code in REJECTING):
            yield f"a rule is an error if and only if its kind is in REJECTING in {_LINE}"
    elif rule.looks_at not in _SUBJECTS:
        names = " or ".join(each.__name__ for each in (LineDiagnostic, *_SUBJECTS))
        yield f"the rule never runs: it looks at {rule.looks_at.__name__}, and not at {names}"


def _faults_of_examples(rule: Rule[Any]) -> Iterator[str]:
    for number, example in enumerate(examples_of(rule.code), 1):
        fixture = read_fixture(example.before)
        if not fixture.marks or rule.looks_at in _OF_FILES or example.beside is not None:
            continue
        texts = records(fixture.text)
        found = analysis_of(example).findings()
        if rule.looks_at is LineDiagnostic and _is_swallowed(rule, texts):
            where = f"{_PACKAGE}/trace/reading.py"
            yield f"the fast path accepts what example {number} marks: refuse that in {where}"
        elif not any(each.rule is rule for each in found):
            yield f"the rule finds nothing in example {number}, which has marks"


def _is_swallowed(rule: Rule[Any], texts: Sequence[str]) -> bool:
    return any(
        rule.code in _kinds(read_exactly(text)) - _kinds(line)
        for text in texts
        for line in read_lines([text])
    )


def _kinds(line: Line) -> set[str]:
    return {each.kind for each in line.diagnostics}
