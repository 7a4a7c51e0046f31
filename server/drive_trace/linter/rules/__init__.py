"""The rules, one file each; this module finds them.

A module of this package with a ``RULE`` is a rule. Its code is its file's name
in kebab-case. ``tools/rule_faults.py`` names the files that break this.
"""

import pkgutil
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib import import_module
from typing import Any

from drive_trace.linter.rule import Rule, UnreadFile
from drive_trace.linter.settings import Severity


def _discover() -> dict[str, Rule[Any]]:
    names = sorted(each.name for each in pkgutil.iter_modules(__path__))
    modules = [import_module(f"{__name__}.{name}") for name in names]
    declared = [getattr(module, "RULE", None) for module in modules]
    return {rule.code: rule for rule in declared if isinstance(rule, Rule)}


RULES: Mapping[str, Rule[Any]] = _discover()
"""Every rule by its code."""

SETTABLE: Mapping[str, Rule[Any]] = {
    code: rule for code, rule in RULES.items() if rule.looks_at is not UnreadFile
}
"""Those that configurations have a say in."""


GROUPS = ("all", *(severity.label for severity in Severity))
"""Names of several rules: of all, or of those of a severity."""


@lru_cache(maxsize=1 << 14)  # as many as a configuration may have
def selected(name: str) -> Sequence[str]:
    """The codes of the rules that a code, a glob of codes or the name of a group means."""
    if name in GROUPS:
        return [code for code, rule in RULES.items() if name in ("all", rule.severity.label)]
    codes = RULES if any(each in name for each in "*?[") else {name} & RULES.keys()
    return [code for code in codes if fnmatchcase(code, name)]


def documentation(rule: Rule[Any]) -> str:
    """The rule's page, in Markdown: the docstring of its module, between summary and examples."""
    return _parts(rule.code)[0].partition("\n\n")[2].strip()


def examples(code: str) -> str:
    """The examples of a rule, from which the tests and the pictures of its page are made."""
    # A broken byte is escaped in a docstring: since 3.13 Python takes no lone surrogate there.
    return _parts(code)[2].replace(r"\udce9", "\udce9")


def _parts(code: str) -> tuple[str, str, str]:
    module = import_module(f"{__name__}.{code.replace('-', '_')}")
    return (module.__doc__ or "").partition("\n\nExamples:\n")
