"""Settings for all tests."""

import shutil

import pytest
from hypothesis import settings

# The same examples in every run, and no time limit: a slow machine is no fault of the code.
settings.register_profile("evalkit", derandomize=True, database=None, deadline=None)
settings.load_profile("evalkit")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip browser tests, with the reason counted, where there is no Chromium."""
    if shutil.which("chromium"):
        return
    skipped = pytest.mark.skip(reason="Chromium is not installed")
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(skipped)
