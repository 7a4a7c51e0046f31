"""What a client can set: from ``initializationOptions``, ``workspace/configuration`` and
``didChangeConfiguration``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from drive_trace.features.options import (
    HintOptions,
    LensOptions,
    LinkOptions,
    Setting,
    setting,
    settings_of,
)
from drive_trace.linter.settings import DEFAULTS, RuleSettings
from drive_trace.lsp.rpc.logs import LEVELS
from drive_trace.storage.configuration_text import read_client_rules

SECTION = "driveTrace"
"""What a client keeps all settings under."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings under ``driveTrace``, in the protocol's camel case there."""

    files: tuple[str, ...] = setting(
        (),
        "More files that are traces, as glob patterns such as `logs/**/*.jsonl`, beside "
        "`trace.jsonl` and `wip/drive-trace/*.jsonl`. They count from the workspace's folders on. "
        "VS Code opens those as traces that are JSON, JSON Lines, logs or plain text otherwise.",
        items={"type": "string"},
        scope="resource",
    )
    max_findings: int = setting(
        1000,
        "The most findings shown for one file. Errors and findings near the last edit are always "
        "among them; a last one says how many more there are.",
        minimum=1,
    )
    rule_url: str = setting(
        "",
        "Address of a rule's page, linked from its findings; `{code}` stands for the rule. "
        "Empty: the pages installed with the server.",
        placeholder="code",
    )
    lens: LensOptions = field(default_factory=LensOptions)
    inlay_hints: HintOptions = field(default_factory=HintOptions)
    links: LinkOptions = field(default_factory=LinkOptions)
    log_to_client: str = setting(
        "off",
        "What the server notes in its own log is also shown in the *Drive Trace* output, from "
        "this level on. Warnings and errors are there in any case, from its standard error.",
        enum=list(LEVELS),
    )
    rules: RuleSettings = DEFAULTS
    """What lies over the configurations: written as the ``[rules]`` table of a configuration is."""
    rule_problems: tuple[str, ...] = ()
    """What was left out of ``rules``, and why: sentences for the person who wrote them."""


RULES_PROSE = (
    "How severe the findings of each rule are, by the rule's code (`drive-trace explain` lists "
    "them), or a table with `severity` and the rule's options, as in `drive-trace.toml`. Lies "
    "over the configuration of the project."
)
DECLARED = tuple(settings_of(Settings))
"""Every setting but ``rules``, whose values are a configuration's."""


def read_settings(given: object, before: Settings) -> Settings:
    """Settings as a client sent them; a value that does not fit leaves the old one in place."""
    section = given.get(SECTION, given) if isinstance(given, dict) else None
    if not isinstance(section, dict):
        return before
    settings = before
    for declared in DECLARED:
        value = _at(section, declared.path)
        if isinstance(value, list):
            value = tuple(value)
        if _fits(value, declared):
            settings = _with(settings, declared.names, value)
    if "rules" in section:
        rules, problems = read_client_rules(section["rules"])
        settings = replace(settings, rules=rules, rule_problems=problems)
    return settings


def _at(section: Mapping[str, Any], path: tuple[str, ...]) -> object:
    value: object = section
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _fits(value: object, declared: Setting) -> bool:
    if type(value) is not type(declared.default):
        return False
    schema = declared.schema
    if isinstance(value, tuple):
        return all(isinstance(each, str) for each in value)
    if "enum" in schema:
        return value in schema["enum"]
    if isinstance(value, str) and value and "placeholder" in schema:
        return value.startswith(("http://", "https://")) and f"{{{schema['placeholder']}}}" in value
    return not isinstance(value, int) or value >= schema.get("minimum", value)


def _with(group: Any, names: tuple[str, ...], value: object) -> Any:
    name, *rest = names
    inner = _with(getattr(group, name), tuple(rest), value) if rest else value
    return replace(group, **{name: inner})
