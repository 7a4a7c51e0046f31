"""What nobody foresaw is still told in a sentence."""

from __future__ import annotations

import pytest

from drive_trace import commands


def test_a_defect_is_one_line_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(**_: object) -> None:
        raise RuntimeError("no\x1b[31m")

    def leave(code: object) -> None:
        raise SystemExit(code)

    monkeypatch.setattr(commands, "cli", broken)
    monkeypatch.setattr(commands, "_leave", leave)
    monkeypatch.setattr(commands, "open_streams", lambda: None)
    monkeypatch.setattr(commands.gc, "disable", lambda: None)
    monkeypatch.delenv(commands.TRACEBACK, raising=False)
    with pytest.raises(SystemExit) as end:
        commands.main()
    assert end.value.code == 2
    said = capfd.readouterr().err
    assert said.count("\n") == 1
    assert "RuntimeError" in said
    assert "Traceback" not in said
