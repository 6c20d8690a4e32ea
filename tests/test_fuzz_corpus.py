"""Inputs that once broke something, or nearly: each is read or refused in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fuzz_targets import CORPUS, TARGETS, check

if TYPE_CHECKING:
    from pathlib import Path

SEEDS = [(path.parent.name, path.name) for path in sorted(CORPUS.glob("*/*"))]


def test_every_target_has_seeds() -> None:
    assert {target for target, _ in SEEDS} == set(TARGETS)


@pytest.mark.parametrize(("target", "name"), SEEDS)
def test_a_seed_is_read_or_refused_in_one_line(target: str, name: str, tmp_path: Path) -> None:
    check(target, (CORPUS / target / name).read_bytes(), tmp_path)
