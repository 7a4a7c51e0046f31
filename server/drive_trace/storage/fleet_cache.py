"""What was found in traces, kept in the user's cache folder, so that a second look at many of them
costs what has changed. It is a database in which each change is whole or absent, wherever a kill
comes. Nothing in it is believed that has another checksum, type, version, path or setting.
"""

import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from drive_trace import __version__
from drive_trace.storage.files import DIGEST, cache_folder, digest_of, why
from drive_trace.text.quick import blake2b

_MOST_BYTES = 4 << 30
"""A larger file is begun anew."""
_TABLE = "kept (key BLOB PRIMARY KEY, value BLOB, sum BLOB)"
_PRAGMAS = (
    "trusted_schema = OFF",
    "locking_mode = EXCLUSIVE",
    "journal_mode = WAL",
    "synchronous = NORMAL",
)


@cache
def program() -> bytes:
    """Changes with the version of the program, and with its files where somebody works on them."""
    tree = os.walk(Path(__file__).resolve().parent.parent)  # glob takes three times as long
    files = (f"{folder}/{name}" for folder, _, names in tree for name in names)
    code = ((each, os.stat(each)) for each in files if each.endswith((".py", ".json")))  # noqa: PTH116 - as above
    states = [f"{name}\0{state.st_size}\0{state.st_mtime_ns}" for name, state in code]
    return digest_of(__version__.encode(), *map(os.fsencode, sorted(states)))


def checksum_of(key: bytes, value: bytes) -> bytes:
    """Of what is kept under a key of at most 64 bytes."""
    return blake2b(value, digest_size=DIGEST, key=key).digest()


class Cache:
    """Bytes by keys. A process that has it open has it alone."""

    def __init__(self, folder: Path | None, patience: float = 0) -> None:
        """Open the cache in a folder, or for None one that ends with this process. Raises OSError
        where the folder takes none, and ``sqlite3.Error`` as where another process has it open for
        more than ``patience`` seconds.
        """
        self._path = None if folder is None else _usable(folder)
        self._patience = patience
        self._is_broken = False
        try:
            self._open()
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:  # it is none, or another's
            self._remove()
            self._open()

    def _open(self) -> None:
        self._database = sqlite3.connect(
            self._path or "", timeout=self._patience, isolation_level=None
        )
        run = self._database.execute
        try:
            for pragma in _PRAGMAS:
                run(f"PRAGMA {pragma}")
            run("BEGIN IMMEDIATE")
            run(f"CREATE TABLE IF NOT EXISTS {_TABLE}")
            layout = run("SELECT sql FROM sqlite_master WHERE sql NOTNULL").fetchall()
            if layout != [(f"CREATE TABLE {_TABLE}",)]:
                raise sqlite3.DatabaseError("it has other tables")
        except sqlite3.Error:
            self._database.close()
            raise

    def _remove(self) -> None:
        if self._path is not None:
            for suffix in ("", "-wal", "-shm", "-journal"):
                Path(f"{self._path}{suffix}").unlink(missing_ok=True)

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """What was kept under some keys; not what is gone, or is not what it was. At most 900, as
        some builds of SQLite take no more than 999.
        """
        marks = ",".join("?" * len(keys))
        asked = f"SELECT key, value, sum FROM kept WHERE key IN ({marks})"  # noqa: S608 - marks
        try:
            rows = self._database.execute(asked, keys).fetchall()
        except sqlite3.Error:
            self._is_broken = True
            return {}
        return {
            key: value
            for key, value, checksum in rows
            if isinstance(value, bytes) and checksum == checksum_of(key, value)
        }

    def put_many(self, values: Mapping[bytes, bytes]) -> None:
        """Keep values under their keys, if possible: they survive a kill once this is done."""
        try:
            rows = ((key, value, checksum_of(key, value)) for key, value in values.items())
            self._database.executemany("REPLACE INTO kept VALUES (?, ?, ?)", rows)
            self._database.execute("COMMIT")
            self._database.execute("BEGIN IMMEDIATE")
        except (sqlite3.Error, OverflowError):
            self._is_broken = True

    def close(self) -> None:
        """End. A file that is broken goes."""
        with suppress(sqlite3.Error):
            self._database.execute("COMMIT")
        self._database.close()
        if self._is_broken:
            with suppress(OSError):  # Windows keeps it while somebody else has it open
                self._remove()


def open_cache(say: Callable[[str], None], patience: float = 0) -> Cache:
    """The user's cache, see :class:`Cache`; where there is none, that is said, and nothing kept."""
    folder = cache_folder()
    try:
        return Cache(folder, patience)
    except (OSError, sqlite3.Error) as error:
        reason = why(error) if isinstance(error, OSError) else error
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
            reason = "another process has its database open; wait for that one, or go on without"
        say(f"{folder}: nothing is kept: {reason}")
        return Cache(None)


def _usable(folder: Path) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / "fleet.sqlite"
    if path.is_symlink():
        raise OSError("its cache is a link")
    if path.exists() and path.stat().st_size > _MOST_BYTES:
        path.unlink()
    return path
