from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

import evalkit
from evalkit import steps

if TYPE_CHECKING:
    import pytest


def test_a_metric_says_how_far_it_is_when_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "SECONDS_BETWEEN_WORDS", 0.0)
    table = pd.DataFrame({"a": range(30), "b": range(30), "c": range(30)})
    heard: list[tuple[int, int, str]] = []
    evalkit.assess(
        evalkit.load(table, table),
        metrics=["linkability_protection_rate"],
        progress=lambda done, total, label: heard.append((done, total, label)),
    )
    shares = [float(label.split(", ")[1].rstrip("%")) for *_, label in heard if "%" in label]
    assert shares == sorted(shares)
    assert 0 < shares[0] < 50
    assert shares[-1] == 100
    assert heard[-1] == (1, 1, "done")


def test_short_work_says_nothing_and_a_listener_is_gone_after_its_block() -> None:
    heard: list[float] = []
    with steps.listening(heard.append):
        steps.Steps(1).advance()
    assert heard == []
    assert steps._LISTENER.get() is None
