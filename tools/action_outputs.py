"""Prints the outputs of the action, given the folder of its reports and how the gate exited."""

import json
import sys
from collections import Counter
from pathlib import Path


def main(folder: Path, gate: str) -> None:
    """Print each output as ``name=value``. A file that is not there tells nothing."""
    sarif = folder / "findings.sarif"
    if sarif.is_file():
        (run,) = json.loads(sarif.read_text("utf-8"))["runs"]
        levels = Counter(each["level"] for each in run["results"])
        say("errors", levels["error"])
        say("warnings", levels["warning"])
        say("findings", levels.total())
        say("sarif", sarif)
    scored = (folder / "score.json").read_text("utf-8")
    if scored:
        runs = json.loads(scored)["runs"]
        say("verdicts", json.dumps({run["run_id"]: run["verdict"] for run in runs}))
        say("correct", str(bool(runs) and gate == "0").lower())
    for name, file in (("report", "report.html"), ("markdown", "report.md")):
        if (folder / file).is_file():
            say(name, folder / file)


def say(name: str, value: object) -> None:
    """Print one output; none has a line end."""
    print(f"{name}={value}")  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
