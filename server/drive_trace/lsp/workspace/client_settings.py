"""The settings of a client, from ``initializationOptions``, ``workspace/configuration`` and
``didChangeConfiguration``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from lsprotocol import types

from drive_trace import features
from drive_trace.linter.settings import DEFAULTS, RuleSettings
from drive_trace.lsp.rpc.capabilities import member_at
from drive_trace.lsp.rpc.protocol import TraceProtocol
from drive_trace.lsp.rpc.stream import LEVELS
from drive_trace.lsp.rpc.threads import in_background
from drive_trace.storage.linked_files import rule_url
from drive_trace.storage.toml_models import read_client_rules
from drive_trace.text.wording import listed, shown

log = logging.getLogger(__name__)

SECTION = "driveTrace"
"""The section of a client's settings that holds all of them."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings under ``driveTrace``, in the protocol's camel case there."""

    files: tuple[str, ...] = features.setting(
        (),
        "More files that are traces, as glob patterns such as `logs/**/*.jsonl`, beside "
        "`trace.jsonl` and `wip/drive-trace/*.jsonl`. They count from the workspace's folders on. "
        "VS Code opens them as traces where the extension runs: in a workspace with a trace or a "
        "`drive-trace.toml`, and once a `.jsonl` file is open. Elsewhere, name them for "
        "`drive-trace` in `files.associations`, too.",
        items={"type": "string"},
        scope="resource",
    )
    max_findings: int = features.setting(
        1000,
        "The most findings shown for one file. Errors and findings near the last edit are always "
        "among them; a last one says how many more there are.",
        minimum=1,
    )
    rule_url: str = features.setting(
        "",
        "Address of a rule's page, linked from its findings; `{code}` stands for the rule. "
        "Empty: the pages installed with the server.",
        placeholder="code",
    )
    diagnostics: features.DiagnosticSettings = field(default_factory=features.DiagnosticSettings)
    hover: features.HoverSettings = field(default_factory=features.HoverSettings)
    lens: features.LensOptions = field(default_factory=features.LensOptions)
    inlay_hints: features.HintOptions = field(default_factory=features.HintOptions)
    links: features.LinkOptions = field(default_factory=features.LinkOptions)
    log_to_client: str = features.setting(
        "off",
        "What the server notes in its own log is also shown in the *Drive Trace* output, from "
        "this level on. Warnings and errors are there in any case, from its standard error.",
        enum=list(LEVELS),
    )
    rules: RuleSettings = DEFAULTS
    """Take precedence over the configurations; written like their ``[rules]`` table."""
    rule_problems: tuple[str, ...] = ()
    """The mistakes in ``rules``, as sentences for the person who wrote them."""
    problems: tuple[str, ...] = field(default=(), compare=False)
    """The mistakes in the other settings, which change nothing."""


RULES_PROSE = (
    "How severe the findings of each rule are, by the rule's code (`drive-trace explain` lists "
    "them), or a table with `severity` and the rule's options, as in `drive-trace.toml`. Lies "
    "over the configuration of the project."
)
DECLARED = tuple(features.settings_of(Settings))
"""Every setting but ``rules``, whose values are a configuration's."""


def read_settings(given: object, before: Settings) -> Settings:
    """Settings as a client sent them. A value that does not fit leaves the old one in place, and is
    told.
    """
    section = given.get(SECTION, given) if isinstance(given, dict) else None
    if not isinstance(section, dict):
        return before
    settings = before
    problems: list[str] = []
    for declared in DECLARED:
        value = member_at(section, declared.path)
        if isinstance(value, list):
            value = tuple(value)
        if _fits(value, declared):
            settings = _with(settings, declared.names, value)
        elif value is not None:
            name = ".".join((SECTION, *declared.path))
            problems.append(f"`{name}` must be {described(declared)}; found {shown(value)}")
    settings = replace(settings, problems=tuple(problems))
    if "rules" in section:
        rules, rule_problems = read_client_rules(section["rules"])
        settings = replace(settings, rules=rules, rule_problems=rule_problems)
    return settings


def _fits(value: object, declared: features.Setting) -> bool:
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


def described(declared: features.Setting) -> str:
    """What a setting may be, in words."""
    schema, default = declared.schema, declared.default
    if "enum" in schema:
        return listed((f"`{value}`" for value in schema["enum"]), "or")
    if isinstance(default, bool):
        return "`true` or `false`"
    if isinstance(default, int):
        return f"an integer of at least {schema.get('minimum', 0)}"
    if isinstance(default, tuple):
        return "a list of texts"
    return (
        f"a web address with `{{{schema['placeholder']}}}`" if "placeholder" in schema else "text"
    )


def _with(group: Any, names: tuple[str, ...], value: object) -> Any:
    name, *rest = names
    inner = _with(getattr(group, name), tuple(rest), value) if rest else value
    return replace(group, **{name: inner})


class ClientSettings:
    """The settings of one client, as they are now."""

    def __init__(
        self, protocol: TraceProtocol, changed: Callable[[Settings, Settings], None]
    ) -> None:
        """``changed`` is called with the settings before and now."""
        self._protocol = protocol
        self._changed = changed
        self._set(Settings())
        self._initial = self.now
        """The settings with which the client started the server."""
        self._requests = 0

    def start(self, options: object) -> None:
        """Take the settings of ``initializationOptions``."""
        self._initial = read_settings(options, Settings())
        _tell(self._initial.problems)
        self._set(self._initial)

    def request(self, sent: object = None) -> None:
        """Get the current settings. ``sent`` came with the notification of a change, and counts if
        the client does not respond with settings.
        """
        if not self._protocol.client.gives_settings:
            self._take(read_settings(sent, self.now))
            return
        self._requests += 1
        in_background(self._request(self._requests, sent))

    async def _request(self, number: int, sent: object) -> None:
        params = types.ConfigurationParams([types.ConfigurationItem(section=SECTION)])
        response = await self._protocol.request(types.WORKSPACE_CONFIGURATION, params)
        if number != self._requests:
            return  # requested again meanwhile
        match response and response.result:
            case [dict() as section, *_]:
                # A setting that is no longer in it is as it was at the start again.
                self._take(read_settings(section, self._initial))
            case _:
                self._take(read_settings(sent, self.now))

    def _take(self, settings: Settings) -> None:
        before = self.now
        _tell(settings.problems)
        if settings != before:
            self._set(settings)
            self._changed(before, settings)

    def _set(self, settings: Settings) -> None:
        self.now = settings
        self.rule_url = partial(rule_url, template=settings.rule_url)
        """Gives the URL of a rule's page by its code. Equal only for equal settings."""
        _tell(settings.rule_problems)


def _tell(problems: Iterable[str]) -> None:
    for problem in problems:
        log.warning("the client's settings: %s", problem)
