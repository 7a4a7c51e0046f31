"""A judge that is a script: it stands in for a model, so that the example needs no network.

It reads the prompt as a model does, and knows one trick. A criterion holds if the change adds all
the code that the criterion names in backticks; one that says "never" holds if it adds none of it.
"""

import json
import re
import sys


def main() -> None:
    """Read a prompt from standard input, and write the reply."""
    prompt = sys.stdin.read()
    nonce = re.search(r"`<<<NAME ([0-9a-f]+)`", prompt)[1]

    def data(name: str) -> str:
        """What stands between two marks: nothing of it is an instruction."""
        found = re.search(
            rf"^<<<{name} {nonce}\n(.*?)\n{name} {nonce}>>>$", prompt, re.MULTILINE | re.DOTALL
        )
        return found[1]

    added = list(added_lines(data("DIFF")))
    criteria = re.findall(r"^- \*\*(AC-\d+)\*\* (.+(?:\n +.+)*)", data("ACCEPTANCE"), re.MULTILINE)
    found = [judged(name, text, added) for name, text in criteria]
    intent = "pass" if found and all(holds for holds, _ in found) else "fail"
    reasons = [reason for _, reason in found] or ["ACCEPTANCE names no criterion."]
    sys.stdout.write(json.dumps({"reasons": reasons, "intent": intent}) + "\n")


def added_lines(diff: str) -> list[tuple[str, str]]:
    """Each line that a diff adds, with its file and number, as ``orders.py:12``."""
    path, number, lines = "", 0, []
    for line in diff.split("\n"):
        if line.startswith("+++ "):
            path = line[4:].removeprefix("b/")
        elif line.startswith("@@ "):
            number = int(re.search(r"\+(\d+)", line)[1])
        elif line.startswith(("+", " ")):
            if line.startswith("+"):
                lines.append((f"{path}:{number}", line[1:]))
            number += 1
    return lines


def judged(name: str, text: str, added: list[tuple[str, str]]) -> tuple[bool, str]:
    """Whether a criterion holds, and why."""
    where = None
    for code in re.findall(r"`([^`]+)`", text):
        where = next((place for place, line in added if code in line), None)
        if (where is None) != ("never" in text):
            there = f"`{code}` is added ({where})" if where else f"`{code}` is not added"
            return False, f"{name} does not hold: {there}."
    shown = f" ({where})" if where else ""
    return True, f"{name} holds{shown}."


if __name__ == "__main__":
    main()
