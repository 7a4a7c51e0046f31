"""The rules, one file each; this module finds them.

A module of this package with a ``RULE`` is a rule. Its code is its file's name
in kebab-case. ``tools/rule_faults.py`` names the files that break this.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from drive_trace.linter.rule import Rule


def _discover() -> dict[str, Rule[Any]]:
    names = sorted(each.name for each in pkgutil.iter_modules(__path__))
    modules = [import_module(f"{__name__}.{name}") for name in names]
    declared = [getattr(module, "RULE", None) for module in modules]
    return {rule.code: rule for rule in declared if isinstance(rule, Rule)}


RULES: Mapping[str, Rule[Any]] = _discover()
"""Every rule by its code."""

SETTABLE: Mapping[str, Rule[Any]] = {code: rule for code, rule in RULES.items() if rule.is_settable}
"""Those that configurations have a say in."""


def documentation(rule: Rule[Any]) -> str:
    """What the rule's module says of it, in Markdown."""
    return (_module(rule).__doc__ or "").strip()


def _module(rule: Rule[Any]) -> ModuleType:
    return import_module(f"{__name__}.{rule.code.replace('-', '_')}")
