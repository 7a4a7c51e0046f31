"""The settings, as the VS Code extension declares them and as docs/settings.md explains them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec
from tools.json_schemas import prose_of, rules_setting

from drive_trace.linter.settings import RuleSettings
from drive_trace.lsp.workspace.client_settings import SECTION, Settings
from drive_trace.text.wording import listed

_OWN_FIRST = ("server.command", "server.python")
_OWN_LAST = (
    "gates.mechanical",
    "gates.qa",
    "judge.model",
    "judge.api",
    "judge.baseUrl",
    "judge.modelCommand",
    "judge.family",
    "judge.orchestratorFamily",
    "judge.calibration",
    "trace.server",
)
"""The extension's own settings, before and after those of the server."""
_TABLE_BEGINS = "<!-- generated: settings -->\n"
_TABLE_ENDS = "<!-- end -->"
_TEXTS = {"description": "", "markdownDescription": "", "patternErrorMessage": ".pattern"}
"""What is translated of a setting, with what its key ends in."""
_TYPES = {bool: "boolean", int: "integer", str: "string", tuple: "array"}
_RULES_PROSE = prose_of(Settings)["rules"]


class Setting(NamedTuple):
    """One value that a user can set."""

    name: str
    """What it is called in VS Code: ``driveTrace.lens.runs``."""
    default: Any
    prose: str
    schema: dict[str, Any]
    """JSON Schema beside its type, which the default shows."""
    meta: msgspec.Meta


def _settings_of(table: type[msgspec.Struct], name: str) -> Iterator[Setting]:
    """Everything that is declared in a table of settings and those within it."""
    prose = prose_of(table)
    for each in msgspec.structs.fields(table):
        full_name, default = f"{name}.{each.encode_name}", each.default
        if isinstance(default, msgspec.Struct) and each.type is not RuleSettings:
            yield from _settings_of(type(default), full_name)
        elif each.type is not RuleSettings:
            schema = msgspec.json.schema(each.type)
            shown = {key: schema[key] for key in ("items", "minimum", "enum") if key in schema}
            if "enum" in shown:  # in the order of the declaration
                shown["enum"] = list(each.type.__args__)
            meta = next(iter(getattr(each.type, "__metadata__", ())), msgspec.Meta())
            yield Setting(full_name, default, prose[each.name], shown, meta)


DECLARED = tuple(_settings_of(Settings, SECTION))
"""Every setting but ``rules``, whose values are a configuration's."""


def extension_manifest(
    manifest: dict[str, Any], texts: Mapping[str, str], addresses: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """The extension's package.json and package.nls.json, with the server's settings as they are
    declared, and the addresses of the project.
    """
    configuration = manifest["contributes"]["configuration"]
    before = configuration["properties"]
    declared = {each.name: _property(each) for each in DECLARED}
    declared[f"{SECTION}.rules"] = {
        **rules_setting(),
        "default": {},
        "scope": "window",
        "markdownDescription": _RULES_PROSE,
    }
    first, last = (
        {name: before[name] for name in (f"{SECTION}.{each}" for each in own)}
        for own in (_OWN_FIRST, _OWN_LAST)
    )
    in_words: dict[str, str] = {}
    localized = _localized({"properties": {**first, **declared, **last}}, "setting", in_words)
    properties = localized["properties"]
    ordered = {name: {**each, "order": at} for at, (name, each) in enumerate(properties.items(), 1)}
    contributes = {
        **manifest["contributes"],
        "configuration": {**configuration, "properties": ordered},
    }
    contents = {
        **manifest,
        "homepage": addresses["Homepage"],
        "repository": {
            "type": "git",
            "url": addresses["Repository"],
            "directory": "vscode-client",
        },
        "bugs": {"url": addresses["Issues"]},
        "contributes": contributes,
    }
    used = set(re.findall(r"(?<=\"%)setting\.[^%\"]+(?=%\")", json.dumps(contents)))
    kept = {key: text for key, text in texts.items() if not key.startswith("setting.")}
    settings = {key: in_words.get(key) or texts[key] for key in sorted(used)}
    return contents, kept | settings


def with_settings(page: str, manifest: dict[str, Any], texts: Mapping[str, str]) -> str:
    """The page about the extension with a table of all settings between its two marks."""
    head, _, rest = page.partition(_TABLE_BEGINS)
    _, _, tail = rest.partition(_TABLE_ENDS)
    rows = ["| setting | default | meaning |", "| --- | --- | --- |"]
    for name, each in manifest["contributes"]["configuration"]["properties"].items():
        default = f"`{json.dumps(each['default'])}`"
        rows.append(f"| `{name}` | {default} | {texts[each['markdownDescription'].strip('%')]} |")
    return "\n".join([f"{head}{_TABLE_BEGINS}", *rows, f"{_TABLE_ENDS}{tail}"])


def _localized(schema: Any, key: str, texts: dict[str, str]) -> Any:
    """A schema with keys of package.nls.json in place of its texts, which are put into ``texts``.
    What is a key already stays.
    """
    if isinstance(schema, list):
        return [_localized(each, key, texts) for each in schema]
    if not isinstance(schema, dict):
        return schema

    def placed(name: str, value: Any) -> Any:
        if name == "properties":
            return {each: _localized(part, f"{key}.{each}", texts) for each, part in value.items()}
        if name == "enumDescriptions":
            pairs = zip(schema["enum"], value, strict=True)
            return [_key_of(text, f"{key}.{each}", texts) for each, text in pairs]
        if name in _TEXTS:
            return _key_of(value, f"{key}{_TEXTS[name]}", texts)
        return _localized(value, key, texts)

    return {name: placed(name, value) for name, value in schema.items()}


def _key_of(text: str, key: str, texts: dict[str, str]) -> str:
    if text.startswith("%"):
        return text
    texts[key] = text
    return f"%{key}%"


def _property(setting: Setting) -> dict[str, Any]:
    schema, extra = dict(setting.schema), setting.meta.extra or {}
    if setting.meta.pattern is not None:
        schema["pattern"] = setting.meta.pattern
        title = str(setting.meta.title).replace("`", "")
        schema["patternErrorMessage"] = f"{title.capitalize()} in it, or nothing."
    return {
        "type": _TYPES[type(setting.default)],
        **schema,
        "default": extra.get("in_vscode", setting.default),
        "scope": extra.get("scope", "window"),
        "markdownDescription": setting.prose,
    }


def _described(setting: Setting) -> str:
    """What a setting may be, in words."""
    default = setting.default
    if "enum" in setting.schema:
        return listed((f"`{value}`" for value in setting.schema["enum"]), "or")
    if isinstance(default, bool):
        return "`true` or `false`"
    if isinstance(default, int):
        return f"an integer of at least {setting.schema['minimum']}"
    return "a list of texts" if isinstance(default, tuple) else str(setting.meta.title)


def settings_reference(notice: str) -> str:
    """Every setting with its type, default and prose, and how to set it in three editors."""
    return "\n".join(
        [_HEAD.format(notice=notice), *_rows(), _RULES.format(prose=_RULES_PROSE), _HOW]
    )


def _rows() -> Iterator[str]:
    for each in DECLARED:
        default = json.dumps(each.default)
        yield f"| `{each.name}` | {_described(each)} | `{default}` | {each.prose} |"


_HEAD = """# Settings

{notice}

What an editor can set of the server. A change takes effect at once: what is shown is made again. A value that does not fit is passed over, and the server's log says what would.

| setting | value | default | meaning |
| --- | --- | --- | --- |"""  # noqa: E501 - a paragraph is a line

_RULES = """
## `driveTrace.rules`

{prose} [rules.md](rules.md) lists the rules, and each rule's page its options. The server's log reports a mistake, and the rule stays as it is.

```json
{{
  "driveTrace.rules": {{
    "not-compact": "off",
    "wall-clock-exceeds-timestamps": {{ "severity": "information", "tolerance-ms": 5000 }}
  }}
}}
```
"""  # noqa: E501

_HOW = """## Where to set them

**VS Code.** In the settings, under *Drive Trace*, or in `settings.json`:

```json
{
  "driveTrace.lens.grades": false,
  "driveTrace.links.ticketUrl": "https://linear.app/acme/issue/{ref}"
}
```

More settings are the extension's own: `driveTrace.server.command`, the command that starts the server, `driveTrace.server.python`, the Python that runs the one that comes with the extension, `driveTrace.gates.*` and `driveTrace.judge.*`, what *Run the Gates…* runs and *Judge This Run…* asks, and `driveTrace.trace.server`, which messages are logged. [VS Code](vscode.md#settings) lists them.

**Neovim.** Below `settings`, with a table for each step of the name:

```lua
vim.lsp.config('drive_trace', {
  settings = {
    driveTrace = {
      lens = { grades = false },
      rules = { ['not-compact'] = 'off' },
    },
  },
})
```

**Emacs.** With eglot, in the init file, or in a project's `.dir-locals.el`:

```elisp
(setq-default eglot-workspace-configuration
  '(:driveTrace (:lens (:grades :json-false) :rules (:not-compact "off"))))
```

**Any other client.** The server asks for the section `driveTrace` with `workspace/configuration`, where the client declares that. Else it takes what comes with `workspace/didChangeConfiguration` as `{"driveTrace": {...}}`. In any case it first takes `initializationOptions`, with or without `driveTrace` around it; what a client gives later lies over that.

**Trust.** Among `initializationOptions` alone, `"trusted": true` says that the person trusts the workspace: what its `drive-trace.toml` excludes is left out, and its runs may be CORRECT without that. VS Code says so of a workspace that you trust.
"""  # noqa: E501
