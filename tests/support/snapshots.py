"""Expected output that is too long to stand in a test, as files under ``tests/snapshots``.

``pytest --update-snapshots`` writes the files as the output is now; read the difference before
it is committed.
"""

from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "snapshots"


class Snapshots:
    """Compares output with its file, or writes the file."""

    def __init__(self, *, update: bool) -> None:
        self._update = update

    def check(self, name: str, text: str) -> None:
        """``text`` is what the file ``name`` says."""
        path = FOLDER / name
        if self._update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
            return
        assert path.is_file(), f"there is no snapshot {name}: run pytest --update-snapshots"
        assert text == path.read_text(encoding="utf-8"), (
            f"{name} is another one now: if that is meant, run pytest --update-snapshots"
        )


def stored(folder: str) -> set[str]:
    """The snapshots in a folder, by name without suffix: none may be left over."""
    return {path.stem for path in (FOLDER / folder).iterdir()}
