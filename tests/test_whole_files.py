"""Several files written as one: all new or all as before, whoever else writes there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sample_assessment import bare

import evalkit
from evalkit.errors import InputError
from evalkit.report.document import Report
from evalkit.running.output_folder import check_output, publish
from evalkit.whole_files import write_whole

ROOT = Path(__file__).resolve().parent.parent


def state(folder: Path) -> dict[str, bytes]:
    """Return what lies in a folder, by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_files_are_replaced_added_and_removed_in_one_step(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "c").write_bytes(b"old")
    (tmp_path / "source").write_bytes(b"from a file")
    paths = write_whole(tmp_path, {"a": b"new", "b": tmp_path / "source"}, remove=["c", "d"])
    assert [path.name for path in paths] == ["a", "b"]
    assert state(tmp_path) == {"a": b"new", "b": b"from a file", "source": b"from a file"}


def test_a_folder_in_the_way_of_the_last_file_changes_none(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "z").mkdir()
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path, {"a": b"new", "b": b"new", "z": b"new"}, remove=["c"])
    assert state(tmp_path) == {"a": b"old"}


def test_an_interrupt_between_two_moves_takes_the_first_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(b"old")
    move, moved = Path.replace, []

    def interrupted(self: Path, target: Path) -> Path:
        moved.append(target)
        if len(moved) == 2:
            raise KeyboardInterrupt
        return move(self, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path, {"a": b"new", "b": b"new"})
    assert state(tmp_path) == {"a": b"old"}


def test_a_link_under_a_name_of_ours_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_bytes(b"mine")
    (tmp_path / "a").symlink_to(tmp_path / "precious")
    (tmp_path / ".a.part").symlink_to(tmp_path / "precious")
    write_whole(tmp_path, {"a": b"new"})
    assert (tmp_path / "precious").read_bytes() == b"mine"
    assert not (tmp_path / "a").is_symlink()


def test_new_files_have_the_rights_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "ordinary").write_bytes(b"")
    write_whole(tmp_path, {"a": b"new"})
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "ordinary").stat().st_mode


WRITER = """\
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from evalkit.whole_files import write_whole
for number in range(60):
    mark = f"{sys.argv[3]}-{number}".encode()
    write_whole(Path(sys.argv[2]), {name: mark for name in "abcdef"}, remove=["g"])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="folders have no locks there")
def test_two_processes_at_once_leave_the_files_of_one(tmp_path: Path) -> None:
    for _ in range(3):
        writers = [
            subprocess.Popen([sys.executable, "-I", "-c", WRITER, ROOT, tmp_path, name])
            for name in ("one", "two")
        ]
        assert [writer.wait() for writer in writers] == [0, 0]
        found = state(tmp_path)
        assert sorted(found) == list("abcdef")
        assert len(set(found.values())) == 1


# Those who use it


def test_a_folder_under_the_name_of_a_file_is_seen_before_a_run(tmp_path: Path) -> None:
    (tmp_path / "assessment.json").write_text('{"evalkit": "0.1.0", "schema_version": 1}')
    (tmp_path / "technical_assessment.pdf").mkdir()
    with pytest.raises(InputError, match=r"technical_assessment\.pdf is a folder there"):
        check_output(tmp_path)


def test_a_folder_in_the_way_of_the_pdf_leaves_the_earlier_report(tmp_path: Path) -> None:
    scratch, out = tmp_path / "scratch", tmp_path / "out"
    for folder, text in ((scratch, "new"), (out, "old")):
        folder.mkdir()
        (folder / "assessment.json").write_text(text)
    (scratch / "technical_assessment.pdf").write_text("new")
    (out / "technical_assessment.pdf").mkdir()
    with pytest.raises(InputError, match=r"in the way|directory"):
        publish(scratch, out)
    assert state(out) == {"assessment.json": b"old"}


@pytest.mark.parametrize("name", ["x" * 300, "a\0b"])
def test_a_path_that_no_file_system_takes_is_refused_before_a_run(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(InputError, match="Output: "):
        check_output(tmp_path / name)


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs /proc")
def test_a_folder_in_which_nothing_can_be_made_is_refused_before_a_run() -> None:
    with pytest.raises(InputError, match="cannot be written"):
        check_output(Path("/proc/report"))


def test_looking_at_a_folder_leaves_nothing_in_it(tmp_path: Path) -> None:
    check_output(tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


def test_a_report_is_saved_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "technical_assessment.html").write_bytes(b"old")
    (tmp_path / "assessment.json").mkdir()
    with pytest.raises(InputError, match="the report cannot be written"):
        Report(bare()).save(tmp_path, formats=("html", "json"))
    assert state(tmp_path) == {"technical_assessment.html": b"old"}


@pytest.mark.parametrize("name", ["folder", "file/below.json", "a\0b", "x" * 300])
def test_an_assessment_that_cannot_be_saved_is_one_clear_line(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"mine")
    with pytest.raises(InputError, match="cannot be written"):
        bare().save(tmp_path / name)
    assert state(tmp_path) == {"file": b"mine"}


def test_an_assessment_is_saved_beside_what_others_planted(tmp_path: Path) -> None:
    (tmp_path / "precious").write_bytes(b"mine")
    (tmp_path / ".assessment.json.part").symlink_to(tmp_path / "precious")
    saved = bare().save(tmp_path / "assessment.json")
    assert evalkit.Assessment.read(saved) == bare()
    assert (tmp_path / "precious").read_bytes() == b"mine"
