"""How ``check`` writes findings: one file a format, or a family of them."""

from __future__ import annotations

from collections.abc import Mapping

from drive_trace.commands.formats.findings import FindingWriter
from drive_trace.commands.formats.json import GithubWriter, JsonWriter
from drive_trace.commands.formats.sarif import SarifWriter
from drive_trace.commands.formats.text import ConciseWriter, FullWriter

FORMATS: Mapping[str, type[FindingWriter]] = {
    "concise": ConciseWriter,
    "full": FullWriter,
    "github": GithubWriter,
    "json": JsonWriter,
    "sarif": SarifWriter,
}
