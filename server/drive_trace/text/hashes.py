"""BLAKE2b and nothing else: ``hashlib`` loads OpenSSL, which takes longer than most of what is told
apart by digests.
"""

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

__all__ = ["blake2b"]
