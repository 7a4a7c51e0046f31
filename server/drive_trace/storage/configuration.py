"""What a ``drive-trace.toml`` says; :mod:`configuration_text` reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from drive_trace.analysis import Spot
from drive_trace.linter.rule import Severity
from drive_trace.linter.settings import DEFAULTS, RuleSettings
from drive_trace.storage.gitignore import patterns_of

CONFIGURATION_NAME = "drive-trace.toml"

SEVERITIES: Mapping[str, Severity | None] = {
    "off": None,
    **{severity.label: severity for severity in Severity},
}
"""How severe a rule can be set to be, by the word for it; None is not at all."""


class ConfigurationProblem(NamedTuple):
    """Why a configuration cannot be used, and where in its text."""

    spot: Spot
    message: str


class Override(NamedTuple):
    """What holds for some files in place of what holds for all."""

    globs: tuple[str, ...]
    rules: RuleSettings


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a ``drive-trace.toml`` says."""

    rules: RuleSettings = DEFAULTS
    overrides: tuple[Override, ...] = ()
    """In their order: of two that mean one file, the later one decides."""

    def settings_for(self, path: str | None) -> RuleSettings:
        """What holds for a file: its path from the configuration's folder, with ``/`` in between;
        None for one that is not below that folder.
        """
        settings = self.rules
        for globs, rules in self.overrides:
            if path is not None and patterns_of(globs).hold(path):
                settings = settings.under(rules)
        return settings
