"""Values that belong together, under names."""

from typing import Any, Self

import msgspec


class Frozen(msgspec.Struct, frozen=True, array_like=True):
    """Like a NamedTuple, and kept as one, but no tuple: the class is made in a tenth of the time,
    which each start of a command feels, and values of it are made and read back faster.
    """

    def _replace(self, **changes: Any) -> Self:
        """The same with other values for some names."""
        return msgspec.structs.replace(self, **changes)
