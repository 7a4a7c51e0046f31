"""Answers to clients that ask for diagnostics, instead of waiting for them to be sent."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple, Self

from drive_trace.features.raw_json import JsonText


class Report(NamedTuple):
    """The diagnostics of one document, or that they are what they were."""

    uri: str
    result_id: str
    items: bytes | None
    """A list as JSON text; None where the client has it already."""

    @classmethod
    def of(cls, uri: str, items: bytes) -> Self:
        """A report that is named by its content: the same diagnostics have the same name."""
        return cls(uri, hashlib.blake2b(items, digest_size=12).hexdigest(), items)

    def unless(self, previous: str | None) -> Report:
        """The report without its items where the client has just that one."""
        return self._replace(items=None) if previous == self.result_id else self

    def as_document_report(self) -> dict[str, Any]:
        """As the answer to ``textDocument/diagnostic``."""
        if self.items is None:
            return {"kind": "unchanged", "resultId": self.result_id}
        items = JsonText(self.items)
        return {"kind": "full", "resultId": self.result_id, "items": items}

    def as_workspace_report(self, version: int | None) -> dict[str, Any]:
        """As one of the items of the answer to ``workspace/diagnostic``."""
        return {"uri": self.uri, "version": version, **self.as_document_report()}
