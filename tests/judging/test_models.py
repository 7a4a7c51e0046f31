"""Models that need no network."""

import pytest

from drive_trace.commands.models import ModelError, Reply, ask_command, judge
from drive_trace.grading.prompts import JudgedCase, ModelAnswer, cut_diff, intent_prompt
from tests.support.systems import NO_SIGNALS, not_on_windows


def test_a_command_gets_the_prompt_and_writes_the_reply() -> None:
    assert ask_command("tr a-z A-Z", "judge “this”").text == "JUDGE “THIS”"
    assert ask_command("echo fine; echo noise >&2", "x" * 300_000).text == "fine\n"


def test_the_last_line_of_the_errors_may_end_without_a_newline(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Also where it is as long as may be."""
    assert ask_command("head -c 1048576 /dev/zero | tr '\\0' x >&2; echo yes", "x").text == "yes\n"
    assert capsys.readouterr().err.startswith("drive-trace: the model's command: xxx")


@not_on_windows(NO_SIGNALS)
@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("exit 7", "ended with exit code 7"),
        ("no-such-model", "was not found"),
        ("kill -9 $$", "was ended by SIGKILL"),
        ("yes", "wrote more than 1,048,576 bytes"),
        ("printf '\\377'", "wrote something that is not UTF-8"),
    ],
)
def test_a_command_that_fails_gives_no_reply(command: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        ask_command(command, "x")


def test_a_command_that_takes_too_long_gives_no_reply() -> None:
    with pytest.raises(ModelError, match=r"took longer than 0\.2 seconds"):
        ask_command("sleep 60", "x", seconds=0.2)


def test_a_nonce_does_not_occur_in_what_it_fences(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = iter(["ab" * 16, "cd" * 16])
    monkeypatch.setattr("secrets.token_hex", lambda _: next(drawn))
    asked = []

    def reply(prompt: str) -> Reply:
        asked.append(prompt)
        return Reply('{"reasons": ["it holds"], "intent": "pass"}')

    case, cut = JudgedCase("it was " + "ab" * 16), cut_diff("+x")
    answer = judge(reply, lambda nonce: intent_prompt(case, cut, [], nonce))
    assert answer == ModelAnswer(("pass",), ("it holds",))
    assert f"<<<DIFF {'cd' * 16}" in asked[0]
    assert f"it was {'ab' * 16}\n" in asked[0]
