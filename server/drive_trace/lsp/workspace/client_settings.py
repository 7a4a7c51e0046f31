"""The settings of a client, from ``initializationOptions``, ``workspace/configuration`` and
``didChangeConfiguration``.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Annotated, Literal, TypeVar

from lsprotocol import types
from msgspec import Meta, Struct, convert
from msgspec.structs import fields, replace

from drive_trace import features
from drive_trace.linter.settings import DEFAULTS, RuleSettings
from drive_trace.lsp.rpc import capabilities, threads
from drive_trace.lsp.rpc.protocol import TraceProtocol
from drive_trace.storage.linked_files import rule_url
from drive_trace.storage.toml_models import faults, read_client_rules

Group = TypeVar("Group", bound=Struct)

log = logging.getLogger(__name__)

SECTION = "driveTrace"
"""The section of a client's settings that holds all of them."""


class Settings(Struct, frozen=True, rename="camel"):
    """The settings under ``driveTrace``, in the protocol's camel case there."""

    files: Annotated[tuple[str, ...], Meta(extra={"scope": "resource"})] = ()
    """More files that are traces, as glob patterns such as `logs/**/*.jsonl`, beside `trace.jsonl`
    and `wip/drive-trace/*.jsonl`. They count from the workspace's folders on. VS Code opens them as
    traces where the extension runs: in a workspace with a trace or a `drive-trace.toml`, and once a
    `.jsonl` file is open. Elsewhere, name them for `drive-trace` in `files.associations`, too.
    """
    max_findings: Annotated[int, Meta(ge=1)] = 1000
    """The most findings shown for one file. Errors and findings near the last edit are always among
    them; a last one says how many more there are.
    """
    rule_url: features.RulePage = ""
    """Address of a rule's page, linked from its findings; `{code}` stands for the rule. Empty: the
    pages installed with the server.
    """
    diagnostics: features.DiagnosticSettings = features.DiagnosticSettings()
    hover: features.HoverSettings = features.HoverSettings()
    lens: features.LensOptions = features.LensOptions()
    inlay_hints: features.HintOptions = features.HintOptions()
    links: features.LinkOptions = features.LinkOptions()
    log_to_client: Literal["off", "error", "warning", "info", "debug"] = "off"
    """What the server notes in its own log is also shown in the *Drive Trace* output, from this
    level on. Warnings and errors are there in any case, from its standard error.
    """
    rules: RuleSettings = DEFAULTS
    """How severe the findings of each rule are, by the rule's code (`drive-trace explain` lists
    them), or a table with `severity` and the rule's options, as in `drive-trace.toml`. Lies over
    the configuration of the project.
    """


def read_settings(given: object, before: Settings) -> tuple[Settings, Sequence[str]]:
    """Settings as a client sent them, and what is wrong with them, as sentences for the person who
    wrote them. A value that does not fit leaves the old one in place.
    """
    section = given.get(SECTION, given) if isinstance(given, dict) else None
    if not isinstance(section, dict):
        return before, ()
    problems: list[str] = []
    settings = _read(section, before, SECTION, problems)
    if "rules" in section:
        rules, wrong = read_client_rules(section["rules"])
        settings = replace(settings, rules=rules)
        problems += wrong
    return settings, problems


def _read(given: object, before: Group, name: str, problems: list[str]) -> Group:
    found: dict[str, object] = {}
    for each in fields(before):
        value, kept = capabilities.member_at(given, [each.encode_name]), getattr(before, each.name)
        full_name = f"{name}.{each.encode_name}"
        if isinstance(kept, Struct):
            is_read_apart = isinstance(kept, RuleSettings)
            found[each.name] = kept if is_read_apart else _read(value, kept, full_name, problems)
        elif value is not None:
            found_wrong = faults(value, each.type, (full_name,))
            wrong = [f"`{full_name}`: " * (len(at) > 1) + what for at, what, *_ in found_wrong]
            problems += wrong
            found |= {} if wrong else {each.name: convert(value, each.type)}
    return replace(before, **found)


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
        self._initial = _told(read_settings(options, Settings()))
        self._set(self._initial)

    def request(self, sent: object = None) -> None:
        """Get the current settings. ``sent`` came with the notification of a change, and counts if
        the client does not respond with settings.
        """
        if not self._protocol.client.gives_settings:
            self._take(sent, self.now)
            return
        self._requests += 1
        threads.in_background(self._request(self._requests, sent))

    async def _request(self, number: int, sent: object) -> None:
        params = types.ConfigurationParams([types.ConfigurationItem(section=SECTION)])
        response = await self._protocol.request(types.WORKSPACE_CONFIGURATION, params)
        if number != self._requests:
            return  # requested again meanwhile
        match response and response.result:
            case [dict() as section, *_]:
                # A setting that is no longer in it is as it was at the start again.
                self._take(section, self._initial)
            case _:
                self._take(sent, self.now)

    def _take(self, given: object, known: Settings) -> None:
        settings, before = _told(read_settings(given, known)), self.now
        if settings != before:
            self._set(settings)
            self._changed(before, settings)

    def _set(self, settings: Settings) -> None:
        self.now = settings
        self.rule_url = partial(rule_url, template=settings.rule_url)
        """Gives the URL of a rule's page by its code. Equal only for equal settings."""


def _told(read: tuple[Settings, Iterable[str]]) -> Settings:
    settings, problems = read
    for problem in problems:
        log.warning("the client's settings: %s", problem)
    return settings
