"""Right of the waist there are no records: planted cells must never leave."""

from __future__ import annotations

import getpass
import html
import re
import subprocess
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from test_contract import people

if TYPE_CHECKING:
    import pandas as pd

RARE_LEVEL = "Zzyzx-on-Sea"
RARE_TEXT = "patient Quillfeather, room 7"
EXTREME = 987654.321
KEY = "K-55012-Q"
FOLDER = "private_Fenwick_folder"


def planted(rows: int, seed: int) -> pd.DataFrame:
    table = people(rows, seed)
    table.loc[5, "town"] = RARE_LEVEL
    table.loc[5, "pressure"] = EXTREME
    table["remarks"] = [f"note number {row} of {seed}" for row in range(rows)]
    table.loc[5, "remarks"] = RARE_TEXT
    table["key"] = [f"K-{row:05d}-{seed}" for row in range(rows)]
    table.loc[5, "key"] = KEY
    return table


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("leak") / FOLDER
    folder.mkdir()
    for name, seed in (("original", 1), ("avatars", 2), ("holdout", 3)):
        planted(120, seed).to_csv(folder / f"{name}.csv", index=False)
    command = [sys.executable, "-m", "evalkit", "assess", "original.csv", "avatars.csv"]
    options = ["--holdout", "holdout.csv", "-o", "out"]
    done = subprocess.run(
        [*command, *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    (folder / "out" / "printed.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
    return folder / "out"


def pdf_text(path: Path) -> str:
    import pypdfium2

    document = pypdfium2.PdfDocument(path)
    try:
        return "\n".join(page.get_textpage().get_text_range() for page in document)
    finally:
        document.close()


def texts(report: Path) -> dict[str, str]:
    found = {"pdf": pdf_text(report / "technical_assessment.pdf")}
    names = {
        "json": "assessment.json",
        "html": "technical_assessment.html",
        "notebook": "technical_assessment.ipynb",
        "printed": "printed.txt",
    }
    for kind, name in names.items():
        content = (report / name).read_text(encoding="utf-8")
        found[kind] = html.unescape(content)
    return found


def test_the_scan_would_find_a_planted_cell(report: Path) -> None:
    # The scan must be able to fail: names of columns stand in every output.
    for kind, text in texts(report).items():
        if kind != "printed":
            assert "pressure" in text, kind


@pytest.mark.parametrize("cell", [RARE_LEVEL, RARE_TEXT, "987654", "987,654", KEY, "Quillfeather"])
def test_no_planted_cell_is_in_any_output(report: Path, cell: str) -> None:
    for kind, text in texts(report).items():
        assert cell not in text, kind


def test_no_person_and_no_folder_of_the_machine_is_in_any_output(report: Path) -> None:
    for kind, text in texts(report).items():
        assert FOLDER not in text, kind
        assert str(Path.home()) + "/" not in text, kind
        if len(getpass.getuser()) > 4:
            assert getpass.getuser() not in text, kind


def test_no_minimum_or_maximum_is_in_the_numbers_of_the_json(report: Path) -> None:
    table = planted(120, 1)
    numbers = set(re.findall(r"-?\d+(?:\.\d+)?", texts(report)["json"]))
    assert "120" in numbers  # the rows of each table: the scan finds numbers
    for extreme in (table["pressure"].max(), table["pressure"].min()):
        assert not {f"{extreme:.1f}", f"{extreme}"} & numbers


def test_the_pictures_hold_no_planted_cell(report: Path) -> None:
    content = (report / "technical_assessment.pdf").read_bytes()
    plain = b"".join(inflated(content))
    for cell in (RARE_LEVEL, "987654", KEY):
        assert cell.encode() not in plain
        assert cell.encode("utf-16-be") not in plain


def inflated(content: bytes) -> list[bytes]:
    found = []
    for part in content.split(b"stream")[1:]:
        try:
            found.append(zlib.decompressobj().decompress(part.lstrip(b"\r\n")))
        except zlib.error:
            continue
    assert found
    return found


def test_an_error_message_shows_the_form_of_a_cell_and_not_the_cell(tmp_path: Path) -> None:
    planted(60, 1).drop(columns=["remarks", "key"]).to_csv(tmp_path / "original.csv", index=False)
    avatars = planted(60, 2).drop(columns=["remarks", "key"]).astype({"age": object})
    avatars.loc[7, "age"] = "Quillfeather88"
    avatars.to_csv(tmp_path / "avatars.csv", index=False)
    done = subprocess.run(
        [sys.executable, "-m", "evalkit", "assess", "original.csv", "avatars.csv", "-o", "out"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )
    assert done.returncode == 2
    assert "Quillfeather" not in done.stdout + done.stderr
    assert "age" in done.stderr
    assert not (tmp_path / "out").exists()


def test_numpy_is_seeded_nowhere_globally() -> None:
    # A global seed would make one metric's draws depend on another's.
    state = np.random.get_state()  # noqa: NPY002 - the very state that must not change
    import evalkit

    evalkit.measure("linkability_protection_rate", people(30, 1), people(30, 2))
    assert np.array_equal(state[1], np.random.get_state()[1])  # noqa: NPY002
