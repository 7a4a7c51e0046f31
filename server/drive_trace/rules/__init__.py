"""The rules, one file each; this module finds them.

A module of this package with a ``RULE`` is a rule. Its code is its file's name
in kebab-case, which a test holds it to.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from drive_trace.rules.base import Rule

_SUPPORT = {"base", "edits"}


def _discover() -> dict[str, Rule[Any]]:
    names = sorted(each.name for each in pkgutil.iter_modules(__path__))
    modules = [import_module(f"{__name__}.{name}") for name in names if name not in _SUPPORT]
    return {module.RULE.code: module.RULE for module in modules}


RULES: Mapping[str, Rule[Any]] = _discover()
"""Every rule by its code."""


def rules_for(subject: type[object]) -> tuple[Rule[Any], ...]:
    """The rules that look at one kind of subject."""
    return _BY_SUBJECT.get(subject, ())


_BY_SUBJECT: Mapping[type[object], tuple[Rule[Any], ...]] = {
    subject: tuple(rule for rule in RULES.values() if rule.subject is subject)
    for subject in {rule.subject for rule in RULES.values()}
}


def documentation(rule: Rule[Any]) -> str:
    """What the rule's module says of it, in Markdown."""
    module = import_module(f"{__name__}.{rule.code.replace('-', '_')}")
    return (module.__doc__ or "").strip()
