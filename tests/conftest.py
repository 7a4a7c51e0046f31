"""What all tests share."""

import pytest

from tests.support.snapshots import Snapshots

# Their asserts say as much as those of the tests that call them.
pytest.register_assert_rewrite(
    *(f"tests.{folder}.support" for folder in ("cli", "scorecard", "server", "syntax"))
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-snapshots",
        action="store_true",
        help="write tests/snapshots as the output is now, instead of comparing with it",
    )


@pytest.fixture
def snapshots(pytestconfig: pytest.Config) -> Snapshots:
    """Expected output that is kept in files."""
    return Snapshots(update=pytestconfig.getoption("--update-snapshots"))
