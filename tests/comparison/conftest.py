"""What the tests of a comparison begin with."""

from pathlib import Path

import pytest

from tests.comparison.support import Sides


@pytest.fixture
def sides(tmp_path: Path) -> Sides:
    return Sides(tmp_path)
