"""What loads and is made quickly, in place of parts of Python's library that a start would feel."""

import sys
from typing import Any, Self

import msgspec

try:  # `hashlib` loads OpenSSL, which takes longer than most of what is told apart by digests
    from _blake2 import blake2b

    if sys.version_info >= (3, 12):
        from _sha2 import sha256
    else:
        from _sha256 import sha256  # type: ignore[import-not-found]
except ImportError:
    from hashlib import blake2b, sha256

__all__ = ["Frozen", "blake2b", "sha256_of", "shipped"]


class Frozen(msgspec.Struct, frozen=True, array_like=True):
    """Like a NamedTuple, and kept as one, but no tuple: the class is made in a tenth of the time,
    which each start of a command feels, and values of it are made and read back faster.
    """

    def _replace(self, **changes: Any) -> Self:
        """The same with other values for some names."""
        return msgspec.structs.replace(self, **changes)


def sha256_of(data: bytes) -> str:
    """Its SHA-256 in hexadecimal."""
    return str(sha256(data).hexdigest())


def shipped(package: str, name: str) -> str:
    """The text of a file beside the modules of a package, by its path below it; all that may be in
    an archive.
    """
    import pkgutil  # noqa: PLC0415 - the starts of most commands read no such file

    data = pkgutil.get_data(package, name)
    assert data is not None, "only loaders without files give none"
    return data.decode()
