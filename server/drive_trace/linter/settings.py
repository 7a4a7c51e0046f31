"""How rules are set: what configurations and baselines say of them. It loads no rule."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import msgspec

from drive_trace.text.quick import sha256_of

if TYPE_CHECKING:  # whoever reads a configuration may do without rules
    from drive_trace.linter.rule import Rule

OptionValue = int | float | bool | str


class Severity(IntEnum):
    """How bad a finding is; the numbers are LSP's ``DiagnosticSeverity``."""

    ERROR = 1
    WARNING = 2
    INFORMATION = 3
    HINT = 4

    @property
    def label(self) -> str:
        """The name used in output and configuration."""
        return self.name.lower()


class RuleSettings(msgspec.Struct, frozen=True):
    """How the rules are to be run over one trace."""

    severities: Mapping[str, Severity | None] = {}
    """Severities by rule code where they differ from the rules' own; None turns a rule off."""
    options: Mapping[str, Mapping[str, OptionValue]] = {}
    """Values of options by rule code and option name, where they differ from the defaults."""
    known: Mapping[str, int] = {}
    """By the fingerprint (:func:`fingerprint`) of a finding, on how many lines of the trace a
    baseline hides it: on the first ones.
    """
    unfixable: frozenset[str] = frozenset()
    """The codes of the rules whose fixes are made by hand alone."""

    def severity(self, rule: Rule[Any]) -> Severity | None:
        """How severe a rule's findings are; None where the rule is off."""
        return self.severities.get(rule.code, rule.severity)

    def values(self, rule: Rule[Any]) -> dict[str, OptionValue]:
        """The values of a rule's options, by the names of its check's keywords."""
        chosen = self.options.get(rule.code, {})
        return {
            option.name.replace("-", "_"): chosen.get(option.name, option.default)
            for option in rule.options
        }

    def under(self, other: RuleSettings) -> RuleSettings:
        """These settings with others laid over them: what both set, the others decide."""
        if other == DEFAULTS:
            return self
        codes = {*self.options, *other.options}
        return RuleSettings(
            {**self.severities, **other.severities},
            {code: {**self.options.get(code, {}), **other.options.get(code, {})} for code in codes},
            {**self.known, **other.known},
            self.unfixable | other.unfixable,
        )


DEFAULTS = RuleSettings()


def fingerprint(code: str, text: str) -> str:
    """What a baseline knows a finding by: its rule and the text of its line, not its number."""
    data = f"{code}\0{text.rstrip(chr(13))}".encode("utf-8", "surrogatepass")
    return sha256_of(data)[:32]
