"""What a client can set, from ``initializationOptions`` and ``didChangeConfiguration``."""

from __future__ import annotations

from dataclasses import dataclass, replace

from drive_trace.lsp.logs import LEVELS
from drive_trace.rules.settings import DEFAULTS, RuleSettings
from drive_trace.storage.configuration_text import read_client_rules

DEFAULT_MAX_FINDINGS = 1000


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings under ``driveTrace``, in the protocol's camel case there."""

    max_findings: int = DEFAULT_MAX_FINDINGS
    """How many findings of a file are shown at the most; at least 1."""
    rule_url: str = ""
    """Where a finding's documentation link leads: a web address with ``{code}`` in it. Empty:
    the pages that are installed with the server.
    """
    rules: RuleSettings = DEFAULTS
    """What lies over the configurations: written as the ``[rules]`` table of a configuration is."""
    rule_problems: tuple[str, ...] = ()
    """What was left out of ``rules``, and why: sentences for the person who wrote them."""
    log_to_client: str = "off"
    """What of the server's log is sent to the client, too: one of ``logs.LEVELS``."""


def read_settings(given: object, before: Settings) -> Settings:
    """Settings as a client sent them; a value that does not fit leaves the old one in place."""
    section = given.get("driveTrace", given) if isinstance(given, dict) else None
    if not isinstance(section, dict):
        return before
    settings = before
    most = section.get("maxFindings")
    if isinstance(most, int) and not isinstance(most, bool) and most >= 1:
        settings = replace(settings, max_findings=most)
    url = section.get("ruleUrl")
    if isinstance(url, str) and (not url or _is_template(url)):
        settings = replace(settings, rule_url=url)
    if "rules" in section:
        rules, problems = read_client_rules(section["rules"])
        settings = replace(settings, rules=rules, rule_problems=problems)
    level = section.get("logToClient")
    if level in LEVELS:
        settings = replace(settings, log_to_client=str(level))
    return settings


def _is_template(url: str) -> bool:
    return url.startswith(("http://", "https://")) and "{code}" in url
