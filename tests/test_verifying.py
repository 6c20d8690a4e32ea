"""``evalkit verify``: whole reports pass; a changed digit anywhere is found and named."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING

import msgspec
import pytest
from sample_assessment import sample
from test_contract import people
from test_signing import PASSWORD, key  # noqa: F401 - a fixture

import evalkit
from evalkit.cli import main
from evalkit.errors import InputError
from evalkit.records import Target
from evalkit.report.sealing import BLANK, sealed
from evalkit.signing import read_key, sign_pdf
from evalkit.verifying import DIFFERS, NOT_COMPARED, SAME, verify
from evalkit.verifying.pages import page_checks
from evalkit.verifying.report_file import read_report
from evalkit.verifying.results import differences

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from evalkit.verifying import Check

LINK, RATIO = "linkability_protection_rate", "correlation_difference_ratio"
METRICS = [LINK, "replicated_uniques", RATIO]
FORMS = {
    "json": "assessment.json",
    "html": "technical_assessment.html",
    "pdf": "technical_assessment.pdf",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with three tables and the report of them."""
    place = tmp_path_factory.mktemp("verified")
    for number, name in enumerate(("original", "avatars", "holdout")):
        people(60, number).to_csv(place / f"{name}.csv", index=False)
    release = evalkit.load(
        place / "original.csv",
        place / "avatars.csv",
        place / "holdout.csv",
        categorical=["smoker"],
        seed=5,
    )
    scenarios = [
        evalkit.Scenario(known=["age", "smoker", "visits"], seed=3),
        evalkit.Scenario(name="all"),
    ]
    assessment = evalkit.assess(
        release, scenarios, metrics=METRICS, profile="vendor-2026", title="Cohort \u202eA"
    )
    evalkit.Report(assessment).save(place)
    return place


def tables(folder: Path, *roles: str) -> dict[str, Path]:
    return {role: folder / f"{role}.csv" for role in roles or ("original", "avatars", "holdout")}


def of(checks: list[Check], outcome: str) -> list[str]:
    return [one.what for one in checks if one.outcome == outcome]


def changed(folder: Path, name: str, before: bytes, after: bytes, to: Path) -> Path:
    """Write a copy of a file in which the first `before` is `after`."""
    content = (folder / name).read_bytes()
    assert before in content
    path = to / name
    path.write_bytes(content.replace(before, after, 1))
    return path


@pytest.mark.parametrize("form", FORMS)
def test_a_whole_report_of_the_same_files_is_the_same_throughout(folder: Path, form: str) -> None:
    checks = verify(folder / FORMS[form], tables(folder))
    assert of(checks, DIFFERS) == []
    unlike = [] if form != "pdf" else ["no signature in the PDF"]
    assert of(checks, NOT_COMPARED) == unlike
    said = of(checks, SAME)
    for slug in METRICS:
        assert any(one.startswith(slug) for one in said)
    assert f"{LINK}, scenario 'all'" in said
    assert sum("has the SHA-256" in one for one in said) == 3


def test_without_the_files_the_report_alone_is_looked_at(folder: Path) -> None:
    checks = verify(folder / FORMS["html"], tables(folder, "avatars"))
    assert of(checks, DIFFERS) == []
    missing = of(checks, NOT_COMPARED)
    assert "original: give the file with --original" in missing
    assert "the results: needs --original and --holdout" in missing


def test_files_with_other_names_are_the_same_files(folder: Path, tmp_path: Path) -> None:
    moved = {}
    for role, path in tables(folder).items():
        moved[role] = tmp_path / f"old-{role}.csv"
        moved[role].write_bytes(path.read_bytes())
    assert of(verify(folder / FORMS["json"], moved), DIFFERS) == []


def test_tables_in_memory_have_no_hash_and_their_scores_and_subgroups_are_measured_again(
    folder: Path, tmp_path: Path
) -> None:
    release = evalkit.load(*(people(60, number) for number in range(3)))
    scenario = evalkit.Scenario(min_count=2)
    formulas = [{"name": "ages", "kind": "groups", "formula": "age by smoker"}]
    assessment = evalkit.assess(release, scenario, metrics=[LINK], by="smoker", analyses=formulas)
    checks = verify(assessment.save(tmp_path / "assessment.json"), tables(folder))
    assert of(checks, DIFFERS) == []
    assert sum("has no SHA-256" in one for one in of(checks, NOT_COMPARED)) == 3
    for part in ("distributions by variable", "scores of the subgroups", "user's own analyses"):
        assert f"the {part}" in of(checks, SAME)


def a_score(folder: Path) -> str:
    """Return a score as the HTML pages print it, with what stands around it."""
    page = (folder / FORMS["html"]).read_text(encoding="utf-8")
    found = re.search(r">\d{2}\.\d<", page.partition('<details class="json">')[0])
    assert found is not None
    return found[0]


def other_digit(text: str) -> str:
    """Return a text whose last digit is another one."""
    place = max(place for place, one in enumerate(text) if one.isdigit())
    return text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :]


def test_a_digit_changed_on_an_html_page_is_found_and_shown(folder: Path, tmp_path: Path) -> None:
    score = a_score(folder)
    path = changed(folder, FORMS["html"], score.encode(), other_digit(score).encode(), tmp_path)
    found = of(page_checks(read_report(path)), DIFFERS)
    assert "SHA-256 of the file, taken with its field blanked" in found
    assert f"the pages say {other_digit(score)[1:-1]!r}" in found[-1]
    assert f"makes them say {score[1:-1]!r}" in found[-1]


def test_who_takes_the_hash_of_the_changed_page_anew_is_found_too(
    folder: Path, tmp_path: Path
) -> None:
    score = a_score(folder)
    path = changed(folder, FORMS["html"], score.encode(), other_digit(score).encode(), tmp_path)
    blanked = re.sub(r'(evalkit-sha256" content=")\w+', rf"\g<1>{BLANK}", path.read_text())
    path.write_text(sealed(blanked))
    checks = page_checks(read_report(path))
    assert "SHA-256 of the file, taken with its field blanked" in of(checks, SAME)
    assert len(of(checks, DIFFERS)) == 1


def test_a_digit_changed_in_the_assessment_of_an_html_report_is_found(
    folder: Path, tmp_path: Path
) -> None:
    path = changed(
        folder, FORMS["html"], b"&quot;rows&quot;: 60", b"&quot;rows&quot;: 61", tmp_path
    )
    found = of(page_checks(read_report(path)), DIFFERS)
    assert any(one.startswith("SHA-256 of the assessment in the file") for one in found)


def test_a_digit_changed_in_the_attachment_of_a_pdf_is_found(folder: Path, tmp_path: Path) -> None:
    pdf = (folder / FORMS["pdf"]).read_bytes()
    found = re.search(rb"<<[^\n]*/EmbeddedFile[^\n]*>>\s*stream\n", pdf)
    assert found is not None
    [length] = re.findall(rb"/Length (\d+)", found[0])
    start, end = found.end(), found.end() + int(length)
    json = zlib.decompress(pdf[start:end]).replace(b'"rows": 60', b'"rows": 61', 1)
    packed = zlib.compress(json)
    head = found[0].replace(b"/Length " + length, b"/Length %d" % len(packed))
    path = tmp_path / "changed.pdf"
    path.write_bytes(pdf[: found.start()] + head + packed + pdf[end:])
    report = read_report(path)
    assert report.assessment.release.original.rows == 61
    assert of(page_checks(report), DIFFERS) == [
        "the pages of the PDF are not those that its attachment makes"
    ]


def test_a_byte_changed_on_a_page_of_a_pdf_is_found(folder: Path, tmp_path: Path) -> None:
    pdf = bytearray((folder / FORMS["pdf"]).read_bytes())
    pdf[len(pdf) // 3] ^= 1
    (tmp_path / "changed.pdf").write_bytes(pdf)
    assert len(of(page_checks(read_report(tmp_path / "changed.pdf")), DIFFERS)) == 1


def test_what_is_added_behind_a_pdf_is_found(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "longer.pdf"
    path.write_bytes((folder / FORMS["pdf"]).read_bytes() + b"% more\n")
    found = of(page_checks(read_report(path)), DIFFERS)
    assert found == ["something was added behind the pages of the PDF"]


def test_a_signed_pdf_is_checked_by_its_signature(
    folder: Path,
    tmp_path: Path,
    key: Path,  # noqa: F811 - the fixture
) -> None:
    signed = sign_pdf((folder / FORMS["pdf"]).read_bytes(), read_key(key, PASSWORD))
    path = tmp_path / "signed.pdf"
    path.write_bytes(signed)
    checks = page_checks(read_report(path))
    assert of(checks, DIFFERS) == []
    assert "in the name of 'A. Assessor'" in of(checks, SAME)[-1]
    path.write_bytes(signed + b"% more\n")
    assert any("A. Assessor" in one for one in of(page_checks(read_report(path)), DIFFERS))


def forged(folder: Path, to: Path, slug: str, **fields: object) -> Path:
    """Write the assessment with another result, as a run would have written it."""
    whole = evalkit.Assessment.read(folder / FORMS["json"])
    result = msgspec.structs.replace(whole.results[slug], **fields)
    other = msgspec.structs.replace(whole, results=whole.results | {slug: result})
    return other.save(to / "assessment.json")


def test_a_score_changed_in_the_json_is_found_by_measuring_again(
    folder: Path, tmp_path: Path
) -> None:
    path = forged(folder, tmp_path, RATIO, score=99.5)
    found = of(verify(path, tables(folder)), DIFFERS)
    assert len(found) == 1
    assert found[0].startswith(f"{RATIO}, scenario 'known columns': score is 99.5 in the report")


def test_an_easier_target_in_the_json_is_found_by_the_hash_of_its_profile(
    folder: Path, tmp_path: Path
) -> None:
    easy = Target(operator=">", value=1.0, issuer="Octopize", definition="same")
    found = of(verify(forged(folder, tmp_path, RATIO, target=easy), tables(folder)), DIFFERS)
    assert len(found) == 1
    assert "target" in found[0]


def test_a_json_file_that_was_edited_is_told_from_one_that_was_written(
    folder: Path, tmp_path: Path
) -> None:
    path = changed(folder, FORMS["json"], b'"rows": 60', b'"rows":  60', tmp_path)
    assert of(page_checks(read_report(path)), DIFFERS) == [
        "assessment.json was changed after evalkit wrote it"
    ]


def test_a_digit_changed_in_an_input_is_found_and_nothing_is_measured(
    folder: Path, tmp_path: Path
) -> None:
    line = (folder / "avatars.csv").read_bytes().splitlines()[5]
    other = other_digit(line.decode()).encode()
    path = changed(folder, "avatars.csv", line, other, tmp_path)
    checks = verify(folder / FORMS["json"], tables(folder) | {"avatars": path})
    [found] = of(checks, DIFFERS)
    assert found.startswith("avatars: avatars.csv has the SHA-256 ")
    assert "the results: a file is another one" in of(checks, NOT_COMPARED)


@pytest.mark.parametrize(
    "versions", [{"evalkit": "0.0.1"}, {"versions": {"matplotlib": "3.0.0", "typst": "0.1.0"}}]
)
def test_pages_of_another_version_are_not_compared(
    folder: Path, tmp_path: Path, versions: Mapping[str, object]
) -> None:
    whole = evalkit.Assessment.read(folder / FORMS["json"])
    other = msgspec.structs.replace(whole, **versions)
    page = evalkit.Report(other).html().replace("The method", "A method").replace("Source", "From")
    path = tmp_path / "old.html"
    path.write_text(page, encoding="utf-8")
    said = of(page_checks(read_report(path)), NOT_COMPARED)
    assert len(said) == 1
    assert said[0].startswith("the pages; the assessment was made with ")


def test_the_command_prints_a_line_for_each_and_exits_with_3_where_anything_differs(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [part for role, path in tables(folder).items() for part in (f"--{role}", str(path))]
    assert main(["verify", str(folder / FORMS["json"]), *given, "--quiet"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith("same: ") for line in lines)
    other = forged(folder, tmp_path, LINK, score=1.0)
    assert main(["verify", str(other), *given]) == 3
    out, err = capsys.readouterr()
    assert sum(line.startswith("DIFFERS: ") for line in out.splitlines()) == 1
    assert "measuring again, 1 of " in err


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"a,b\n1,2\n", "holds no assessment"),
        (b"", "holds no assessment"),
        (b"%PDF-1.7\n", "holds no assessment"),
        (b"<!doctype html><p>84.6</p>", "holds no assessment"),
        (b"{}", "not an assessment of evalkit"),
    ],
)
def test_what_is_no_report_is_one_clear_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, line: str
) -> None:
    path = tmp_path / "other.bin"
    path.write_bytes(content)
    assert main(["verify", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert line in err
    assert err.count("\n") == 1


def test_a_file_that_is_not_there_is_one_clear_line(folder: Path) -> None:
    with pytest.raises(InputError, match=r"^none\.pdf: cannot be read"):
        verify(folder / "none.pdf", {})
    with pytest.raises(InputError, match=r"^--avatars: none\.csv: cannot be read"):
        verify(folder / FORMS["json"], {"avatars": folder / "none.csv"})


def test_a_holdout_where_none_was_assessed_is_refused(folder: Path, tmp_path: Path) -> None:
    path = sample(holdout_kind="approximate").save(tmp_path / "assessment.json")
    with pytest.raises(InputError, match="no holdout was assessed"):
        verify(path, tables(folder, "holdout"))


@pytest.mark.parametrize(
    ("then", "now", "found"),
    [
        ({"score": 84.6}, {"score": 84.6 * (1 + 1e-12)}, []),
        ({"seconds": 1.0, "text": "a"}, {"seconds": None, "text": "b"}, []),
        ({"a": [1, 2]}, {"a": [1, 3]}, ["a[2] is 2 in the report and 3 when measured again"]),
        ({"a": [1, 2]}, {"a": [1]}, ["a is another one"]),
        ({"a": 1}, {"b": 1}, ["a is another one", "b is another one"]),
        ({"a": True}, {"a": 1.5}, ["a is another one"]),
        ({"a": None}, {"a": "x"}, ["a is another one"]),
    ],
)
def test_differences_are_named_by_their_place(then: object, now: object, found: list[str]) -> None:
    assert list(differences(then, now)) == found
