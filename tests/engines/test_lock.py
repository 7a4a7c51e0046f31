"""What is locked for the engines."""

import pytest

from tests.test_project import PYTHONS, SYSTEMS
from tests.test_project import test_a_lock_file_holds_all_that_its_packages_need_there as holds_all

pytest.importorskip("ray", reason="needs the extra drive-trace[fleet-ray]: see make fleet-test")


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize(("system", "family"), SYSTEMS)
def test_the_lock_file_holds_all(python: str, system: str, family: str) -> None:
    holds_all("requirements-fleet.lock", python, system, family)
