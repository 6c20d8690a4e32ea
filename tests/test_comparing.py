"""Several assessments side by side: what changed, what may not be told, how it looks as text."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace
from sample_assessment import HOSTILE, linkability, sample, with_result

import evalkit
from evalkit.comparing import difference_interval
from evalkit.figures import frontier
from evalkit.intervals import wilson
from evalkit.records import InputRecord
from evalkit.report.comparison import FILES, ComparisonReport

if TYPE_CHECKING:
    from pathlib import Path

    from evalkit.records import Assessment

LINKABILITY, CORRELATION = "linkability_protection_rate", "correlation_difference_ratio"


def with_score(score: float, low: float, high: float, **changes: Any) -> Assessment:
    before = linkability("real", ["a", "b"])
    facts = before.facts | {"expected_score": score}
    changed = {"score": score, "interval": (low, high), "facts": facts} | changes
    return with_result(sample(), LINKABILITY, **changed)


def finding(first: Assessment, second: Assessment, slug: str = LINKABILITY) -> str:
    lines = evalkit.compare([first, second]).lines
    line = next(one for one in lines if one.slug == slug)
    return line.changes[0].finding


def test_the_interval_of_a_difference_adds_squares_by_hand() -> None:
    # 90 (86 to 94) against 80 (77 to 83): sqrt(4² + 3²) = 5 on either side of 10.
    assert difference_interval(80, (77, 83), 90, (86, 94)) == (5.0, 15.0)
    # Lopsided: down by sqrt(1² + 4²), up by sqrt(3² + 2²).
    low, high = difference_interval(50, (48, 54), 60, (59, 63))
    assert (low, high) == pytest.approx((10 - 17**0.5, 10 + 13**0.5))


def test_the_interval_of_a_difference_covers_two_shares_of_known_rates() -> None:
    rng = np.random.default_rng(1)
    held, runs = 0, 1000
    for first, second in zip(
        rng.binomial(400, 0.2, runs), rng.binomial(300, 0.3, runs), strict=True
    ):
        ends = difference_interval(
            first / 400, wilson(first, 400), second / 300, wilson(second, 300)
        )
        held += ends[0] <= 0.1 <= ends[1]
    assert 0.93 <= held / runs <= 0.975


def test_a_change_beyond_its_interval_is_told_and_one_within_is_not() -> None:
    start = with_score(80.0, 77.0, 83.0)
    assert finding(start, with_score(90.0, 86.0, 94.0)) == "higher"
    assert finding(start, with_score(70.0, 66.0, 74.0)) == "lower"
    assert finding(start, with_score(83.0, 79.0, 87.0)) == "within"


@pytest.mark.parametrize(
    ("second", "found"),
    [
        (with_score(90.0, 86.0, 94.0, version=99), "other_version"),
        (sample(names=["one", "two", "three"]), "other_question"),
        (sample(holdout_kind="approximate"), "other_control"),
        (with_score(90.0, 0.0, 0.0, interval=None, interval_method=None), "no_interval"),
    ],
)
def test_what_is_another_quantity_is_not_compared(second: Assessment, found: str) -> None:
    assert finding(sample(), second) == found


def test_a_measure_that_one_assessment_lacks_does_not_vanish() -> None:
    fewer = replace(sample(), results={LINKABILITY: sample().results[LINKABILITY]})
    compared = evalkit.compare([fewer, sample()])
    assert finding(fewer, sample(), CORRELATION) == "not_measured"
    assert CORRELATION in set(compared.frame()["metric"])
    assert "Correlation difference ratio" in ComparisonReport(compared).html()


def test_originals_that_differ_by_a_few_people_hide_the_differences() -> None:
    first, second = with_score(80.04, 77.0, 83.0), with_score(90.04, 86.0, 94.0)
    release = second.release
    table = release.original
    other = InputRecord(name=table.name, rows=table.rows - 1, columns=9, sha256="f" * 64)
    second = replace(second, release=replace(release, original=other))
    compared = evalkit.compare([first, second])
    assert finding(first, second) == "hidden"
    frame = compared.frame().set_index(["metric", "scenario"])
    row = frame.loc[(LINKABILITY, "all columns")]
    assert (row["A"], row["B"], row["B - A"]) == (80, 90, None)
    html = ComparisonReport(compared).html()
    assert "The differences are not shown" in html
    assert "80.0" not in html
    assert "90.04" not in compared.json().decode()


def test_enough_people_more_or_less_hide_nothing() -> None:
    first, second = with_score(80.0, 77.0, 83.0), with_score(90.0, 86.0, 94.0)
    table = replace(second.release.original, rows=5_812, sha256="f" * 64)
    second = replace(second, release=replace(second.release, original=table))
    assert finding(first, second) == "higher"


def test_the_frame_has_a_column_for_each_release() -> None:
    frame = evalkit.compare([sample(), sample(), sample()]).frame()
    assert [name for name in frame.columns if len(name) == 1] == ["A", "B", "C"]
    assert (frame["B - A"].dropna() == 0).all()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "0 assessments; give 2 to 26"),
        ([sample()], "1 assessments; give 2 to 26"),
        ([sample()] * 27, "27 assessments"),
        (sample(), "a list of two or more"),
        ([sample(), 5], "neither an assessment nor the path of one"),
    ],
)
def test_what_cannot_be_compared_gives_one_clear_line(given: Any, said: str) -> None:
    with pytest.raises(evalkit.InputError, match=said):
        evalkit.compare(given)


def test_the_document_says_what_changed_and_holds_no_address() -> None:
    compared = evalkit.compare([with_score(80.0, 77.0, 83.0), with_score(90.0, 86.0, 94.0)])
    html = ComparisonReport(compared).html()
    assert "One measure differs from A beyond its interval" in html
    assert "Compared with A, each by itself: B." in html
    assert "+10.0" in html
    assert "5.0 to 15.0" in html
    assert "it does not make it" in html
    assert not re.search(r"""(?:src|href)=["']?https?:""", html)
    assert "<script" not in html


def test_what_comes_from_files_is_text_in_every_output() -> None:
    titled = replace(sample(names=HOSTILE), title=HOSTILE[0])
    compared = evalkit.compare([titled, replace(titled, title=HOSTILE[1])])
    report = ComparisonReport(compared)
    assert "<script" not in report.html()
    assert "&lt;script&gt;" in report.html()
    assert report.pdf().startswith(b"%PDF-1.7")
    assert "<script" not in compared._repr_html_()


def test_the_pdf_holds_what_was_compared() -> None:
    import io

    import pikepdf

    compared = evalkit.compare([sample(), sample()])
    pdf = ComparisonReport(compared).pdf()
    with pikepdf.open(io.BytesIO(pdf)) as opened:
        assert list(opened.attachments) == ["comparison.json"]
        attached = opened.attachments["comparison.json"].get_file().read_bytes()
    assert attached == compared.json()
    assert json.loads(attached)["assessments"][0]["sha256"] == compared.digests[0]
    assert pdf == ComparisonReport(evalkit.compare([sample(), sample()])).pdf()


def test_the_command_compares_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        sample().save(tmp_path / f"{name}.json")
    call = [sys.executable, "-m", "evalkit", "compare", "a.json", "b.json", "-o", "out"]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(FILES)
    (tmp_path / "b.json").write_text("{}")
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("evalkit: b.json: not an assessment of evalkit")
    assert done.stderr.count("\n") == 1


def test_releases_on_the_frontier_are_those_that_no_other_beats() -> None:
    from evalkit.figures.frontier import unbeaten

    points = [
        {"letter": "A", "privacy": 90.0, "utility": 40.0},
        {"letter": "B", "privacy": 70.0, "utility": 80.0},
        {"letter": "C", "privacy": 70.0, "utility": 60.0},
        {"letter": "D", "privacy": 60.0, "utility": 70.0},
    ]
    assert [one["letter"] for one in unbeaten(points)] == ["A", "B"]
    panel = {"privacy": "$x$", "utility": "<b>", "privacy_target": 80, "releases": points}
    drawing = frontier([panel] * 3, narrow=True, words={})
    assert drawing.figure.get_figwidth() * 72 == pytest.approx(203)


def test_a_comparison_needs_no_data_and_no_table_library() -> None:
    content = msgspec.json.encode(sample()).decode()
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        "from evalkit.records import decode\n"
        "from evalkit.comparing import compare\n"
        "from evalkit.report.comparison import ComparisonReport\n"
        f"one = decode({content!r}.encode(), 'a')\n"
        "print(len(ComparisonReport(compare([one, one])).html()) > 1000)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "True", done.stderr
