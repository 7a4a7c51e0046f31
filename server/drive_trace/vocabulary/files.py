"""Which fields of an event say how large a file is and what is in it."""

from __future__ import annotations

from typing import NamedTuple


class FileFacts(NamedTuple):
    """The fields of an event that are about one file."""

    path: str
    """Says where the file lies, from the root of the repository. A brief's is not declared, but
    writers that know it write it.
    """
    length: str
    """Its length in bytes."""
    sha256: str | None = None
    """Its sha256 in hexadecimal."""


FILES = (
    FileFacts("spec_path", "byte_length"),
    FileFacts("plan_path", "byte_length"),
    FileFacts("brief_path", "brief_byte_length", "brief_content_hash"),
)
"""For each field that says where a file lies: what else an event with it says of the file."""
