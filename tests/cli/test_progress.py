"""How far a long reading is: for a person at a terminal, and for nobody else."""

import io
import sys

import pytest

from drive_trace.commands import terminal
from drive_trace.commands.terminal import ProgressBar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def told(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    assert list(ProgressBar("reading traces").over(iter("abc"))) == ["a", "b", "c"]
    return stream.getvalue()


def test_it_is_told_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "_PATIENCE", 0)
    monkeypatch.setattr(terminal, "_PAUSE", 0)
    said = told(Terminal(), monkeypatch)
    assert "reading traces" in said
    assert "33%" in said
    assert "/s" in said
    assert said.endswith("\r\x1b[K")


def test_nothing_is_told_of_what_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(Terminal(), monkeypatch) == ""


def test_nothing_is_told_to_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "_PATIENCE", 0)
    assert told(io.StringIO(), monkeypatch) == ""
