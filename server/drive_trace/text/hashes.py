"""BLAKE2b and SHA-256, and nothing else: ``hashlib`` loads OpenSSL, which takes longer than most of
what is told apart by digests.
"""

import sys

try:  # as Python's own `random` does
    from _blake2 import blake2b

    if sys.version_info >= (3, 12):
        from _sha2 import sha256
    else:
        from _sha256 import sha256  # type: ignore[import-not-found]
except ImportError:
    from hashlib import blake2b, sha256

__all__ = ["blake2b", "sha256_of"]


def sha256_of(data: bytes) -> str:
    """Its SHA-256 in hexadecimal."""
    return str(sha256(data).hexdigest())
