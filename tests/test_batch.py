"""`evalkit batch`: many assessments from a list, kept where nothing changed, with a summary."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from test_contract import people

import evalkit
from evalkit import cli
from evalkit.batch import Done, Job, read_list, run_all, running, write_summary
from evalkit.batch.fingerprint import fingerprint, is_made, leave_mark
from evalkit.batch.summary import scores_csv
from evalkit.records import Assessment
from evalkit.report.batch import batch_page

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parent.parent
LIST = """\
defaults:
  original: original.csv
  holdout: holdout.csv
  metrics: linkability_protection_rate,hellinger
  formats: html
assessments:
  - {name: k5, avatars: k5.csv, title: "Five"}
  - {name: k20, avatars: k20.csv, known: "age,town", profile: strict.yaml, require-targets: true}
  - {name: gone, avatars: gone.csv}
"""
PROFILE = """\
name: strict
title: {en: Strict}
issuer: the test
issuer_role: controller
date: "2026"
status: internal
caveat: {en: Made up.}
targets:
  - {metric: hellinger, operator: ">=", value: 80, unit: "%", definition: same}
"""


def write_tables(folder: Path) -> None:
    for number, name in enumerate(("original", "k5", "k20", "holdout")):
        table = people(60, number)
        # One set misses a target that unseen real rows would meet.
        far = {"visits": table["visits"] + 9, "age": table["age"] + 40} if name == "k20" else {}
        table.assign(**far).to_csv(folder / f"{name}.csv", index=False)


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], str]:
    """Run one list of three twice; give the folder, what was said, and the page."""
    folder = tmp_path_factory.mktemp("Fenwick") / "here"
    folder.mkdir()
    write_tables(folder)
    (folder / "strict.yaml").write_text(PROFILE)
    (folder / "list.yaml").write_text(LIST)
    said = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-m", "evalkit", "batch", "list.yaml", "-o", "out", "--jobs", "2"],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2, done.stderr
        said.append(done.stderr)
    return folder, said, (folder / "out" / "batch.html").read_text(encoding="utf-8")


def test_one_that_fails_does_not_stop_the_others(batch: tuple[Path, list[str], str]) -> None:
    folder, said, _ = batch
    for name in ("k5", "k20"):
        files = {path.name for path in (folder / "out" / name).iterdir()}
        assert files == {"assessment.json", "batch.json", "technical_assessment.html"}
    assert not (folder / "out" / "gone").exists()
    assert "k5 made" in said[0]
    assert said[0].splitlines()[-1].startswith("evalkit: gone: gone.csv: cannot be read")


def test_what_is_made_already_is_kept(batch: tuple[Path, list[str], str]) -> None:
    _, said, _ = batch
    assert "k5 unchanged" in said[1]
    assert "k20 unchanged" in said[1]
    assert "gone failed" in said[1]


def test_the_options_of_an_entry_come_before_the_defaults(
    batch: tuple[Path, list[str], str],
) -> None:
    folder, _, _ = batch
    found = {
        one: Assessment.read(folder / "out" / one / "assessment.json") for one in ("k5", "k20")
    }
    assert found["k5"].title == "Five"
    assert found["k5"].profile is None
    assert found["k20"].scenario.known == ["age", "town"]
    assert found["k20"].profile is not None
    assert set(found["k20"].results) == {"linkability_protection_rate", "hellinger"}


def test_the_page_says_what_became_of_each(batch: tuple[Path, list[str], str]) -> None:
    _, _, page = batch
    assert "3 assessments: 2 unchanged and kept; 1 failed." in page
    assert '<a href="k5/technical_assessment.html">k5</a>' in page
    assert "required and missed" in page
    assert "cannot be read" in page
    assert '<a href="comparison/comparison.html">k5; k20</a>' in page
    assert not re.search(r"""(?:src|href|url\()\s*=?\s*["']?\s*(?:https?:)?//""", page)
    assert "<script" not in page


def test_nothing_names_the_folders_of_the_machine(batch: tuple[Path, list[str], str]) -> None:
    folder, _, _ = batch
    for path in (folder / "out").rglob("*"):
        if path.is_file():
            assert b"Fenwick" not in path.read_bytes(), path.name


def test_the_scores_are_one_table(batch: tuple[Path, list[str], str]) -> None:
    folder, _, _ = batch
    text = (folder / "out" / "batch.csv").read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(text.splitlines()))
    found = Assessment.read(folder / "out" / "k5" / "assessment.json")
    (row,) = [one for one in rows if (one["name"], one["metric"]) == ("k5", "hellinger")]
    assert float(row["score"]) == found.results["hellinger"].score
    (failed,) = [one for one in rows if one["name"] == "gone"]
    assert failed["outcome"] == "failed"
    assert "cannot be read" in failed["reason"]
    (judged,) = [one for one in rows if (one["name"], one["metric"]) == ("k20", "hellinger")]
    assert judged["target"] == ">= 80"
    assert judged["verdict"] == "not met"


# The list


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is a list of entries"),
        ("{assessments: []}", "is a list of entries"),
        ("{defaults: 3, assessments: [{name: a}]}", "is a list of entries"),
        ("{defualts: {}, assessments: []}", "'defualts' is unknown"),
        ("[a]", "entry 1 is no mapping"),
        ("[{original: a.csv}]", "the name of entry 1"),
        ("[{name: ../up, original: a, avatars: b}]", "cannot be that of a folder"),
        ("[{name: .., original: a, avatars: b}]", "cannot be that of a folder"),
        ("[{name: 'a. ', original: a, avatars: b}]", "cannot be that of a folder"),
        ("[{name: a, avatars: b}]", "a: original is not given"),
        ("[{name: a, original: a, avatars: b, sede: 3}]", "did you mean 'seed'"),
        ("[{name: a, original: a, avatars: b, output: c}]", "output is not for a list"),
        (
            "[{name: a, original: a, avatars: b}, {name: A, original: a, avatars: b}]",
            "stands twice",
        ),
    ],
)
def test_a_list_of_another_form_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "list.yaml"
    path.write_text(text)
    with pytest.raises(evalkit.InputError, match=re.escape(message)):
        read_list(path)


def test_paths_are_relative_to_the_list(tmp_path: Path) -> None:
    path = tmp_path / "list.yaml"
    path.write_text("{defaults: {original: a.csv}, assessments: [{name: k, avatars: sub/b.csv}]}")
    (job,) = read_list(path)
    assert job.options == {
        "original": str(tmp_path / "a.csv"),
        "avatars": str(tmp_path / "sub" / "b.csv"),
    }


def test_a_bad_list_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list.yaml").write_text("[{name: a}]")
    assert cli.main(["batch", "list.yaml", "-o", "out"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_the_example_of_the_documentation_is_a_list(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "batch.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    (tmp_path / "list.yaml").write_text(example)
    jobs = read_list(tmp_path / "list.yaml")
    assert [job.name for job in jobs] == ["k5", "k20", "k20 for the press"]
    assert all(job.options["holdout"] for job in jobs)


# What was made from what


@pytest.fixture
def options(tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "a.csv").write_text("a\n1\n")
    return {"original": str(tmp_path / "a.csv"), "seed": 0, "profile": "none"}


def test_the_fingerprint_is_of_options_and_content(tmp_path: Path, options: dict[str, Any]) -> None:
    first = fingerprint(options)
    assert first is not None
    assert fingerprint(options | {"require_targets": True}) == first
    assert fingerprint(options | {"seed": 1}) != first
    assert fingerprint(options | {"profile": "vendor-2026"}) != first
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "a.csv").write_bytes((tmp_path / "a.csv").read_bytes())
    moved = {"original": str(tmp_path / "copy" / "a.csv")}
    assert fingerprint(options | moved) == first  # the folder does not matter
    (tmp_path / "a.csv").write_text("a\n2\n")
    assert fingerprint(options) != first


def test_templates_of_ones_own_are_looked_at(tmp_path: Path, options: dict[str, Any]) -> None:
    (tmp_path / "own" / "deep").mkdir(parents=True)
    page = tmp_path / "own" / "deep" / "page.md"
    page.write_text("one")
    given = options | {"templates": str(tmp_path / "own")}
    first = fingerprint(given)
    assert first not in {None, fingerprint(options)}
    page.write_text("two")
    assert fingerprint(given) != first


def test_a_table_in_a_database_or_a_missing_file_has_no_fingerprint(
    options: dict[str, Any],
) -> None:
    assert fingerprint(options | {"avatars": "postgresql://host/base?table=a"}) is None
    assert fingerprint(options | {"avatars": "gone.csv"}) is None


def test_a_report_that_was_touched_is_not_kept(tmp_path: Path) -> None:
    (tmp_path / "assessment.json").write_text("{}")
    leave_mark(tmp_path, "made of this")
    assert is_made(tmp_path, "made of this")
    assert not is_made(tmp_path, "made of that")
    assert not is_made(tmp_path, None)
    (tmp_path / "assessment.json").write_text("{} ")
    assert not is_made(tmp_path, "made of this")
    leave_mark(tmp_path, None)
    assert not (tmp_path / "batch.json").exists()


# The summary


@pytest.fixture(scope="module")
def assessment() -> Assessment:
    table = people(60, 1)
    return evalkit.assess(evalkit.load(table, table, table), metrics=["hellinger"])


def test_no_cell_of_the_scores_is_a_formula(assessment: Assessment) -> None:
    for start in "=+-@\t\r":
        job = Job("k5", {})
        text = scores_csv([Done(job, "failed", f"{start}cmd|' /C calc'!A0"), Done(job, "made")])
        cells = [cell for row in csv.reader(text.splitlines()) for cell in row]
        assert not [cell for cell in cells if cell[:1] in set("=+-@\t\r")]
    assert "hellinger,all columns,100.0" in scores_csv([Done(job, "made", "", assessment)])


def test_every_text_of_the_page_is_escaped(assessment: Assessment) -> None:
    evil = "<b>&'\""
    line = {"name": evil, "outcome": "failed", "reason": evil, "report": f"{evil}/a.html"}
    made = {"targets_missed": False, "assessment": assessment}
    page = batch_page([line | made], [(f"{evil}.html", [evil])], "en")
    assert "<b>&" not in page
    assert "&lt;b&gt;&amp;" in page
    assert "%3Cb%3E" in page


def test_the_page_exists_in_french(assessment: Assessment, tmp_path: Path) -> None:
    jobs = [Done(Job(name, {}), "made", "", assessment) for name in ("k5", "k20")]
    paths = write_summary(jobs, tmp_path, "fr")
    assert [path.name for path in paths] == ["batch.html", "batch.csv"]  # frames have no SHA-256
    page = paths[0].read_text(encoding="utf-8")
    assert '<html lang="fr">' in page
    assert "2 évaluations" in page


class Crew(running._Crew):
    """Says what it was asked, in place of doing it."""

    asked: list[Sequence[str]] = []  # noqa: RUF012 - one test looks at it

    def run(self, command: list[str]) -> tuple[int, str]:
        """Fail as a process does that was ended from outside."""
        self.asked.append(command)
        return -9, "evalkit: something\x1b[2J"


def test_a_process_that_is_ended_is_a_failure_with_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_Crew", Crew)
    told: list[str] = []
    (done,) = run_all([Job("k5", {"original": "a", "avatars": "b"})], tmp_path, tell=told.append)
    assert done.outcome == "failed"
    assert told == ["[1/1] k5 failed: something?[2J"]
    assert "-I" in Crew.asked[0]


def _heed_an_interrupt() -> None:
    """Undo what a shell hands down to its background: there an interrupt is to be ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupted_batch_ends_its_processes_and_can_be_resumed(tmp_path: Path) -> None:
    write_tables(tmp_path)
    (tmp_path / "list.yaml").write_text(LIST)
    process = subprocess.Popen(
        [sys.executable, "-m", "evalkit", "batch", "list.yaml", "-o", "out"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        preexec_fn=_heed_an_interrupt,  # noqa: PLW1509 - no thread runs here yet
    )
    ends = time.monotonic() + 60
    while not list(tmp_path.glob("evalkit-*/assessment.yaml")) and time.monotonic() < ends:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said == "evalkit: interrupted\n"
    assert not list(tmp_path.glob("evalkit-*"))
    assert not list((tmp_path / "out").rglob("*.json"))


def test_the_mark_holds_no_path(batch: tuple[Path, list[str], str]) -> None:
    folder, _, _ = batch
    mark = json.loads((folder / "out" / "k5" / "batch.json").read_bytes())
    assert set(mark) == {"files", "fingerprint"}
    assert set(mark["files"]) == {"assessment.json", "technical_assessment.html"}
