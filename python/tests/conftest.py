"""What the tests of the package share."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def root() -> Path:
    """The folder of the project."""
    return ROOT


@pytest.fixture
def data() -> Path:
    """The files of the C++ tests."""
    return ROOT / "tests" / "data"
