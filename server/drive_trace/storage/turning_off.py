"""A configuration that is changed on a person's word: its comments and layout stay."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from drive_trace.linter.rules import RULES
from drive_trace.storage.configuration import CONFIGURATION_NAME, Configuration
from drive_trace.storage.files import Problem, inside, may_be_there, read_regular, why
from drive_trace.storage.projects import Project, shown_path
from drive_trace.storage.replace import write_whole
from drive_trace.storage.toml_models import read_table

_SPECIAL = re.compile(r"[*?\[]| $")
"""What means something in a pattern, or ends it."""


def turn_off(project: Project, code: str, trace: str | None) -> Problem | str:
    """Turn a rule off in a project's configuration, for one trace or for all. A trace is named as
    by :meth:`Project.path_of`. Comments and layout of the configuration stay. Returns the name of
    the file, or why it is as it was.
    """
    path = project.configuration_path or project.folder / CONFIGURATION_NAME
    shown = shown_path(path)
    if project.problems:
        return project.problems[0].problem
    try:
        text = read_regular(path).decode("utf-8-sig") if may_be_there(path) else ""
        changed = _without_rule(text, code, trace)
        if changed is None:
            return Problem(shown, f"cannot be changed by a tool: turn {code} off by hand")
        write_whole(inside(path), changed.encode())
    except (OSError, UnicodeDecodeError) as error:
        reason = why(error) if isinstance(error, OSError) else "it is not UTF-8"
        return Problem(shown, f"cannot be changed: {reason}")
    return shown


def _without_rule(text: str, code: str, trace: str | None) -> str | None:
    """The text of a configuration with a rule off; None if it cannot be made so."""
    import tomlkit  # noqa: PLC0415 - slow to load, and only wanted here
    from tomlkit.exceptions import TOMLKitError  # noqa: PLC0415

    try:
        document: Any = tomlkit.parse(text)
        if trace is None:
            _set(document.setdefault("rules", tomlkit.table()), code)
        else:
            pattern = "/" + _SPECIAL.sub(r"[\g<0>]", trace)
            if "overrides" not in document:
                document["overrides"] = tomlkit.aot()
            of_trace = next(
                (each for each in document["overrides"] if each["paths"] == [pattern]), None
            )
            if of_trace is None:
                of_trace = tomlkit.table()
                of_trace.update({"paths": [pattern], "rules": {}})
                document["overrides"].append(of_trace)
            _set(of_trace.setdefault("rules", tomlkit.table()), code)
        changed = tomlkit.dumps(document)
    except (TOMLKitError, AttributeError, KeyError, TypeError, ValueError):
        return None
    read = read_table(changed, Configuration)
    if not isinstance(read, Configuration) or read.settings_for(trace).severity(RULES[code]):
        return None
    return changed


def _set(rules: Any, code: str) -> None:
    if isinstance(rules.get(code), Mapping):
        rules[code]["severity"] = "off"
    else:
        rules[code] = "off"
