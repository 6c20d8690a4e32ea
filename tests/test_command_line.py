"""The command line as a user meets it: files, scores, one clear line, exit codes.

A real run of the notebook takes seconds, so runs are few and each is looked at from many sides.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evalkit import InputError, cli
from evalkit.commands.assess_options import merged
from evalkit.records import Assessment
from evalkit.running import NotebookError

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parent.parent
FILES = [
    "assessment.json",
    "technical_assessment.html",
    "technical_assessment.ipynb",
    "technical_assessment.pdf",
]
EPOCH = "1796000000"
SECRET = "Zebulon"
# As `evalkit` of an installation would start it: isolated, with this very package.
START = (
    f"import sys; sys.path.insert(0, {str(ROOT)!r}); from evalkit.cli import main; sys.exit(main())"
)


def write_tables(folder: Path) -> None:
    """Write three tables of 40 people; one of them has a name that must never be shown."""
    for name in ("patients", "avatars", "control"):
        draw = random.Random(name)  # noqa: S311 - a fixed table, no secret
        rows = ["age,height,weight,town"]
        for _ in range(40):
            age, height = draw.randint(20, 80), draw.gauss(170, 9)
            weight = height - 100 + draw.gauss(0, 8)
            rows.append(f"{age},{height:.1f},{weight:.1f},{draw.choice(['Nice', 'Lyon', 'Brest'])}")
        rows[7] = rows[7].rpartition(",")[0] + f",{SECRET}" if name == "patients" else rows[7]
        (folder / f"{name}.csv").write_text("\n".join(rows) + "\n")


def evalkit(
    *arguments: str, cwd: Path, prefix: tuple[str, ...] = (), **environment: str | None
) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own; None takes a variable away."""
    env = {**os.environ, "SOURCE_DATE_EPOCH": EPOCH}
    for name, value in environment.items():
        env.pop(name, None)
        if value is not None:
            env[name] = value
    command = [*prefix, sys.executable, "-I", "-c", START, *arguments]
    return subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, encoding="utf-8", timeout=120, check=False
    )


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    write_tables(folder)
    return folder


@pytest.fixture(scope="module")
def done(tables: Path) -> subprocess.CompletedProcess[str]:
    """The main job, once, in a fresh folder."""
    return evalkit(
        *("assess", "patients.csv", "avatars.csv", "--holdout", "control.csv"),
        *("--title", "A trial <b>&</b> more", "--purpose", "teaching"),
        cwd=tables,
    )


@pytest.fixture
def call(
    tables: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Return a call of the command line in this process, in the folder of the tables."""
    monkeypatch.chdir(tables)

    def run(*arguments: str) -> tuple[int, str, str]:
        code = cli.main(arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


# The main job


def test_assess_leaves_four_files_and_says_where(
    done: subprocess.CompletedProcess[str], tables: Path
) -> None:
    assert done.returncode == 0, done.stderr
    out = tables / "reports" / "avatars"
    assert sorted(path.name for path in out.iterdir()) == FILES
    assert (out / "technical_assessment.pdf").read_bytes().startswith(b"%PDF-")
    shown = [Path(line).name for line in done.stdout.splitlines()[-4:]]
    assert sorted(shown) == FILES
    assert all((tables / line).is_file() for line in done.stdout.splitlines()[-4:])


def test_scores_go_to_the_output_and_progress_to_the_error_stream(
    done: subprocess.CompletedProcess[str], tables: Path
) -> None:
    found = Assessment.read(tables / "reports" / "avatars" / "assessment.json")
    lines = done.stdout.splitlines()
    assert lines[0].split()[:3] == ["metric", "scenario", "score"]
    for slug, result in found.results.items():
        line = next(one for one in lines if one.startswith(slug))
        score = result.facts.get("expected_score", result.score)
        assert ("-" if score is None else f"{score:.1f} {result.unit}") in line
        assert result.verdict in line
    assert done.stderr.splitlines()[0].startswith("[1/")
    assert all(line.startswith("[") for line in done.stderr.splitlines())
    last = done.stderr.splitlines()[-1]
    steps = last[1:].partition("/")[0]
    assert last == f"[{steps}/{steps}] done"


def test_no_path_no_name_of_a_person_and_no_environment_is_left(
    done: subprocess.CompletedProcess[str], tables: Path
) -> None:
    assert done.returncode == 0
    for name in ("assessment.json", "technical_assessment.html", "technical_assessment.ipynb"):
        text = (tables / "reports" / "avatars" / name).read_text(encoding="utf-8")
        for told in (str(tables), str(ROOT), str(Path.home()), SECRET):
            assert told not in text, (name, told)


def test_the_options_are_recorded(done: subprocess.CompletedProcess[str], tables: Path) -> None:
    assert done.returncode == 0
    found = Assessment.read(tables / "reports" / "avatars" / "assessment.json")
    assert found.title == "A trial <b>&</b> more"
    assert found.declared == {"purpose": "teaching"}
    assert [found.release.original.name, found.release.avatars.name] == [
        "patients.csv",
        "avatars.csv",
    ]


def test_the_same_run_gives_the_same_bytes_and_replaces_the_report(
    done: subprocess.CompletedProcess[str], tables: Path
) -> None:
    out = tables / "reports" / "avatars"
    before = {name: (out / name).read_bytes() for name in FILES}
    again = evalkit(
        *("assess", "patients.csv", "avatars.csv", "--holdout", "control.csv", "--quiet"),
        *("--title", "A trial <b>&</b> more", "--purpose", "teaching"),
        cwd=tables,
    )
    assert (again.returncode, again.stdout, again.stderr) == (0, done.stdout, "")
    assert {name: (out / name).read_bytes() for name in FILES} == before


def test_render_makes_the_same_report_from_the_json_alone(
    done: subprocess.CompletedProcess[str], tables: Path, tmp_path: Path
) -> None:
    assert done.returncode == 0
    source = tables / "reports" / "avatars"
    shutil.copy(source / "assessment.json", tmp_path)
    # Without a home, so that a library that wants to write there would be heard.
    home = a_home_that_cannot_be_made(tmp_path)
    again = evalkit("render", "assessment.json", "-o", "again", cwd=tmp_path, **home)
    assert (again.returncode, again.stderr) == (0, "")
    for name in set(FILES) - {"technical_assessment.ipynb"}:
        assert (tmp_path / "again" / name).read_bytes() == (source / name).read_bytes()


def test_a_file_of_options_gives_scenarios_targets_and_an_answer(
    call: Callable[..., tuple[int, str, str]], tables: Path
) -> None:
    folder = tables / "settings"
    folder.mkdir()
    (folder / "policy.yaml").write_text(
        "name: ours\nissuer: us\nissuer_role: controller\ndate: '2026-01-01'\nstatus: internal\n"
        "targets:\n  - {metric: linkability_protection_rate, operator: '>=', value: 99.9,"
        " definition: same}\n"
    )
    (folder / "assessment.yaml").write_text(
        "original: ../patients.csv\navatars: ../avatars.csv\nprofile: policy.yaml\n"
        "known: {press: [age, town], clinic: [age, height, weight]}\nformats: [ipynb]\n"
        "metrics: linkability_protection_rate\nrequire-targets: true\n"
        "output: ../by_file\nquiet: true\nseed: 3\n"
    )
    code, out, err = call("assess", "--config", "settings/assessment.yaml", "--seed", "4")
    assert (code, err) == (cli.ANSWER_IS_NO, "")
    names = sorted(path.name for path in (tables / "by_file").iterdir())
    assert names == ["assessment.json", "technical_assessment.ipynb"]
    found = Assessment.read(tables / "by_file" / "assessment.json")
    assert [one.scenario.name for one in found.scenarios()] == ["press", "clinic"]
    assert found.scenarios()[1].scenario.known == ["age", "height", "weight"]
    assert found.scenario.seed == 4
    assert found.options["profile"] == "policy.yaml"
    assert "press" in out
    assert "clinic" in out
    shown = (tables / "by_file" / "technical_assessment.ipynb").read_text(encoding="utf-8")
    assert "policy.yaml" in shown
    assert str(tables) not in shown


def test_a_shipped_profile_is_judged_by_and_required(
    call: Callable[..., tuple[int, str, str]], tables: Path
) -> None:
    code, out, err = call(
        *("assess", "patients.csv", "avatars.csv", "--holdout", "control.csv", "--row-link"),
        *("--profile", "vendor-2026", "--context", "public", "--require-targets"),
        *("--metrics", "hidden_rate", "--formats", "html", "-o", "judged", "--quiet"),
    )
    assert (code, err) == (cli.ANSWER_IS_NO, "")  # only one of its three targets was looked at
    found = Assessment.read(tables / "judged" / "assessment.json")
    assert found["hidden_rate"].verdict == "met"
    assert found.profile is not None
    assert found.scenario.context == "public"
    assert "The targets of vendor-2026 were set for this recipient: contractual third" in out
    html = (tables / "judged" / "technical_assessment.html").read_text(encoding="utf-8")
    assert "set for another recipient" in html
    assert "recipient: contractual third party" in html
    assert "Set by a seller" in html


def test_targets_that_are_all_met_are_no_failure(
    call: Callable[..., tuple[int, str, str]], tables: Path
) -> None:
    (tables / "own.yaml").write_text(
        "name: own\nissuer: the clinic\nissuer_role: controller\ndate: 2026-01-05\n"
        "status: internal\ncontext: {recipient: internal}\ntargets:\n"
        "  - {metric: local_cloaking, operator: '>', value: 3, unit: avatars, definition: same}\n"
    )
    code, out, err = call(
        *("assess", "patients.csv", "avatars.csv", "--row-link", "--profile", "own.yaml"),
        *("--context", "internal", "--require-targets", "--metrics", "local_cloaking"),
        *("--formats", "html", "-o", "own", "--quiet"),
    )
    assert (code, err) == (cli.DONE, "")
    assert " avatars" in out
    assert "recipient" not in out


# Bad input: one line, exit code 2, nothing written


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["asess"], "There is no command 'asess'; did you mean 'assess'?"),
        (["xyz"], "There is no command 'xyz'; commands: demo, assess"),
        (["assess", "--knwon", "age"], "'--knwon'. Did you mean '--known'?"),
        (["assess", "--axes", "many", "a", "b"], "Invalid value for '--axes'"),
        (["assess", "patients.csv"], "AVATARS is not given"),
        (["assess", "patients.csv", "avatars.csv", "more.csv"], "unexpected extra argument"),
        (["assess", "patients.csv", "avatars.csv", "--formats", "docx"], "formats: 'docx'"),
        (["assess", "patients.csv", "avatars.csv", "--require-targets"], "name a profile"),
        (["assess", "patients.csv", "avatars.csv", "-o", "patients.csv"], "is not a folder"),
        (["assess", "patients.csv", "avatars.csv", "--profile", "vendor"], "vendor-2026"),
        (["assess", "patients.csv", "avatars.csv", "--context", "friends"], "'friends' is unknown"),
        (["assess", "--config", "no.yaml"], "no.yaml: cannot be read"),
        (["assess", "--config", "odd.yaml"], "there is no option 'avatar'; did you mean 'avatars'"),
        (
            ["assess", "a", "b", "more.csv"],
            "extra argument (more.csv). See 'evalkit assess --help'.",
        ),
        (["assess", "a", "b", "--missing", "-o", "out"], "--missing takes a mark, and '-o' is an"),
        (["assess", "a", "b", "--missing", "--known"], "--missing takes a mark"),
        (["assess", "a", "b", "-o", "x" * 300], "output: the path is too long"),
        (["assess", "x" * 300, "b"], "original: the path is too long"),
        (["assess", "a", "b", "--templates", "x" * 300], "templates: the path is too long"),
        (["render", "x" * 300, "-o", "out"], "assessment: the path is too long"),
        (["assess", "a", "b", "--ignore", "x" * 140_000], "A list of names with commas"),
        (
            ["assess", "a", "b", "--title", "\ud800"],
            "title: holds bytes that are not valid text; wr",
        ),
        (["assess", "a", "b", "--axes", "0"], "axes"),
        (["assess", "patients.csv", "avatars.csv", "--min-count", "0"], "min_count"),
        (["metrics", "linkabilty_protection_rate"], "did you mean 'linkability_protection_rate'"),
        (["metrics", "--language", "xx"], "'xx' is unknown; use one of: en, fr"),
        (["render", "no.json", "-o", "out"], "no.json: cannot be read"),
        (["render", "patients.csv", "-o", "out"], "patients.csv: not an assessment"),
        (["render", "odd.yaml"], "Missing option"),
        (["split", "patients.csv", "-o", "out", "--share", "2"], "share: 2.0 is not a number"),
        (["split", "no.csv", "-o", "out"], "no.csv"),
    ],
)
def test_bad_input_is_one_clear_line(
    call: Callable[..., tuple[int, str, str]], tables: Path, arguments: list[str], line: str
) -> None:
    (tables / "odd.yaml").write_text("avatar: avatars.csv\n")
    before = sorted(tables.rglob("*"))
    code, out, err = call(*arguments)
    assert (code, out) == (cli.BAD_INPUT, "")
    assert line in err
    assert err.startswith("evalkit: ")
    assert err.count("\n") == 1
    assert sorted(tables.rglob("*")) == before


def test_bad_data_found_by_the_notebook_is_one_clear_line_too(
    call: Callable[..., tuple[int, str, str]], tables: Path
) -> None:
    before = sorted(tables.rglob("*"))
    code, out, err = call(
        "assess",
        "patients.csv",
        "avatars.csv",
        "--known",
        "age,twon",
        "-o",
        "new",
        "--language",
        "en",
    )
    assert (code, out) == (cli.BAD_INPUT, "")
    assert err == "evalkit: --known: there is no column 'twon'; did you mean 'town'?\n"
    assert sorted(tables.rglob("*")) == before


def test_a_language_that_is_not_there_is_refused_in_no_time(
    call: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalkit.running.run", lambda *_, **__: pytest.fail("ran the notebook"))
    code, _, err = call("assess", "patients.csv", "avatars.csv", "--language", "xx")
    assert code == cli.BAD_INPUT
    assert "'xx' is unknown" in err


def test_files_of_others_in_the_output_folder_are_left_alone(
    call: Callable[..., tuple[int, str, str]], tables: Path
) -> None:
    foreign = tables / "foreign"
    foreign.mkdir()
    (foreign / "technical_assessment.pdf").write_text("mine")
    code, _, err = call("assess", "patients.csv", "avatars.csv", "-o", "foreign")
    assert code == cli.BAD_INPUT
    assert "choose another folder" in err
    assert (foreign / "technical_assessment.pdf").read_text() == "mine"


# Other ends


def test_an_internal_error_is_one_line_without_values(
    call: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError(SECRET)

    monkeypatch.setattr("evalkit.running.run", fail)
    code, out, err = call("assess", "patients.csv", "avatars.csv")
    assert (code, out) == (cli.INTERNAL, "")
    assert err.count("\n") == 1
    assert "internal error: KeyError" in err
    assert "Please report" in err
    assert SECRET not in err


def test_a_failed_notebook_is_one_line_with_its_place(
    call: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise NotebookError("ValueError at release.py:3")

    monkeypatch.setattr("evalkit.running.run", fail)
    code, _, err = call("assess", "patients.csv", "avatars.csv")
    assert code == cli.INTERNAL
    assert "internal error: ValueError at release.py:3. Please report" in err


def test_a_name_from_a_file_cannot_command_the_terminal(
    call: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise InputError("column 'to\x1b[2Jwn\n' is odd")

    monkeypatch.setattr("evalkit.running.run", refuse)
    code, _, err = call("assess", "patients.csv", "avatars.csv")
    assert (code, err) == (cli.BAD_INPUT, "evalkit: column 'to?[2Jwn ' is odd\n")


def test_an_interrupt_exits_with_130(
    call: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("evalkit.running.run", interrupt)
    code, _, err = call("assess", "patients.csv", "avatars.csv")
    assert code == cli.INTERRUPTED
    assert err.strip() == "evalkit: interrupted"


def test_a_reader_that_leaves_is_no_error(tables: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", START, "metrics", "linkability_protection_rate"],
        cwd=tables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 0


def test_split_writes_two_files_and_never_replaces_a_holdout(
    call: Callable[..., tuple[int, str, str]], tables: Path
) -> None:
    code, out, err = call("split", "patients.csv", "-o", "parts", "--share", "0.25")
    assert code == 0
    assert [Path(line).name for line in out.splitlines()] == ["working.csv", "holdout.csv"]
    assert "500 rows" in err
    assert len((tables / "parts" / "holdout.csv").read_text().splitlines()) == 11
    code, _, err = call("split", "patients.csv", "-o", "parts", "--seed", "1")
    assert code == cli.BAD_INPUT
    assert "already there" in err


def test_the_catalogue_and_a_page_are_plain_text(call: Callable[..., tuple[int, str, str]]) -> None:
    code, out, _ = call("metrics")
    assert code == 0
    assert "linkability_protection_rate: Linkability protection rate (privacy, linkability)" in out
    code, out, _ = call("metrics", "correlation-difference-ratio")
    assert code == 0
    assert "WHAT IT MEASURES" in out
    assert "In words:" in out
    for mark in ("{{", "{%", "**", "## "):
        assert mark not in out


@pytest.mark.parametrize("arguments", [[], ["--help"], ["assess", "-h"], ["render", "--help"]])
def test_help_is_on_the_output(
    call: Callable[..., tuple[int, str, str]], arguments: list[str]
) -> None:
    code, out, err = call(*arguments)
    assert (code, err) == (0, "")
    assert out.startswith("Usage: evalkit")
    assert "Example" in out


def test_each_command_says_in_the_list_what_it_says_itself() -> None:
    context = cli.group.make_context("evalkit", ["--version-not-asked"], resilient_parsing=True)
    for name in cli.COMMANDS:
        command = cli.group.get_command(context, name)
        assert command is not None
        assert command.help
        assert cli.COMMANDS[name].endswith(".")


def test_the_command_line_comes_before_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("axes: 3\nrow-link: true\nignore: id\nmissing: ['?']\n")
    given = {"config": str(tmp_path / "a.yaml"), "axes": 7, "row_link": None, "ignore": ()}
    options = merged({**given, "missing": (), "known": ("a,b", "c=d")})
    assert options == {
        "axes": 7,
        "row_link": True,
        "ignore": ["id"],
        "missing": ["?"],
        "known": ["a,b", "c=d"],
    }


def test_a_zero_on_the_command_line_comes_before_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("axes: 3\nseed: 7\nmin-count: 20\n")
    given = {"config": str(tmp_path / "a.yaml"), "axes": 0, "seed": 0, "min_count": 0}
    assert merged(given) == {"axes": 0, "seed": 0, "min_count": 0}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("metrics: [1]", "metrics is a list of texts, and one is of type int"),
        ("missing: [1]", "missing is a list of texts"),
        ("formats: 5", "formats is a list of texts"),
        ('original: "a\\0b"', "original: holds a NUL character"),
        ('output: "a\\0b"', "output: holds a NUL character"),
        (f"known: [{'x' * 300}]\noutput: {'x' * 300}", "output: the path is too long"),
    ],
)
def test_a_file_of_options_that_no_run_can_use_is_one_line(
    tmp_path: Path, line: str, said: str
) -> None:
    (tmp_path / "a.yaml").write_text(f"{line}\n")
    given = {"config": str(tmp_path / "a.yaml")} | dict.fromkeys(
        ("metrics", "missing", "formats", "original", "output", "known")
    )
    with pytest.raises(InputError) as caught:
        merged(given)
    assert said in str(caught.value)


def test_dashes_may_stand_for_missing() -> None:
    assert merged({"missing": ("--", "-", "-9")}) == {"missing": ["--", "-", "-9"]}


def test_notes_of_a_file_cannot_command_the_terminal(
    call: Callable[..., tuple[int, str, str]], tables: Path
) -> None:
    head = "\x1b[31mred\x1b[2J ,b\n"
    (tables / "escape.csv").write_text(" " + head + "".join(f"{i},{i}\n" for i in range(10)))
    _, out, err = call("split", "escape.csv", "-o", "escaped")
    assert "\x1b" not in out + err


def test_every_option_is_a_parameter_of_the_notebook() -> None:
    import nbformat

    from evalkit.commands.assess import command
    from evalkit.running.notebook_file import read_parameters

    path = ROOT / "notebooks" / "technical_assessment.ipynb"
    taken = set(read_parameters(nbformat.read(path, as_version=4)))
    options = {one.name for one in command.params} - {"config", "quiet", "require_targets", "sign"}
    assert options | {"declared"} == taken


# Whatever the machine of the user is set up to do, the scores are the same


def shadow(folder: Path) -> Path:
    """Make a package called evalkit, and a NumPy, that must never be imported."""
    for name in ("evalkit", "numpy"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text("raise SystemExit('the wrong package')")
    return folder


def kernelspec(folder: Path) -> Path:
    """Make a Jupyter folder whose python3 starts something else."""
    place = folder / "kernels" / "python3"
    place.mkdir(parents=True)
    spec = {"argv": ["/bin/false", "{connection_file}"], "display_name": "x", "language": "python"}
    (place / "kernel.json").write_text(json.dumps(spec))
    return folder


def start_up_file(folder: Path) -> Path:
    """Make a file that changes scores wherever it is run."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "start.py"
    path.write_text(
        "import builtins, evalkit.running.parameters as p\n"
        "p.scenarios = lambda *a, **k: (_ for _ in ()).throw(SystemExit('start-up file ran'))\n"
    )
    return path


def variables(box: Path) -> dict[str, str | None]:
    """Another python3 for Jupyter, a start-up file for Python, another package on the path."""
    return {
        "JUPYTER_PATH": str(kernelspec(box / "jupyter")),
        "PYTHONSTARTUP": str(start_up_file(box)),
        "PYTHONPATH": str(shadow(box / "shadow")),
    }


def folders(box: Path) -> dict[str, str | None]:
    """Another python3 and a start-up file in the home, another package in the current folder."""
    kernelspec(box / ".local" / "share" / "jupyter")
    start_up_file(box / ".ipython" / "profile_default" / "startup")
    shadow(box)
    away = dict.fromkeys(("JUPYTER_DATA_DIR", "XDG_DATA_HOME", "IPYTHONDIR"))
    return {"HOME": str(box), "JUPYTER_PREFER_ENV_PATH": "0", **away}


def a_home_that_cannot_be_written(box: Path) -> dict[str, str | None]:
    """A home for reading only."""
    (box / "home").mkdir(mode=0o500)
    return {"HOME": str(box / "home"), "MPLCONFIGDIR": None, "XDG_CONFIG_HOME": None}


def a_home_that_cannot_be_made(box: Path) -> dict[str, str | None]:
    """The home of a user who has none: it is not there and cannot be made."""
    (box / "file").write_text("")
    return {"HOME": str(box / "file" / "home"), "MPLCONFIGDIR": None, "XDG_CONFIG_HOME": None}


def no_home_and_plain_letters(box: Path) -> dict[str, str | None]:  # noqa: ARG001 - others need it
    """No variable HOME, and a locale without the letters of the output folder."""
    return {"HOME": None, "LC_ALL": "C", "LANG": "C"}


def another_place(box: Path) -> dict[str, str | None]:  # noqa: ARG001 - others need it
    """The far side of the date line, and a language with two letters i."""
    return {"TZ": "Pacific/Kiritimati", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"}


HOSTILE = [
    variables,
    folders,
    a_home_that_cannot_be_written,
    a_home_that_cannot_be_made,
    no_home_and_plain_letters,
    another_place,
]


def as_ordinary_user() -> tuple[str, ...]:
    """Return what takes root's right to write everywhere away, or nothing for other users."""
    if os.name != "posix" or os.geteuid() != 0:
        return ()
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("root can write everywhere, and there is no setpriv to take that right away")
    rights = "-dac_override,-dac_read_search,-fowner"
    return (setpriv, f"--bounding-set={rights}", f"--inh-caps={rights}")


@pytest.mark.skipif(sys.platform == "win32", reason="folders and users differ on Windows")
@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda one: one.__name__)
def test_nothing_on_the_machine_changes_a_score(
    hostile: Callable[[Path], dict[str, str | None]],
    done: subprocess.CompletedProcess[str],
    tables: Path,
    tmp_path: Path,
) -> None:
    assert done.returncode == 0
    box = tmp_path / "box"
    box.mkdir()
    run = evalkit(
        *("assess", str(tables / "patients.csv"), str(tables / "avatars.csv")),
        *("--holdout", str(tables / "control.csv"), "--formats", "ipynb", "-o", "sortie é"),
        *("--title", "A trial <b>&</b> more", "--purpose", "teaching", "--quiet"),
        cwd=box,
        prefix=as_ordinary_user(),
        **hostile(box),
    )
    assert (run.returncode, run.stderr) == (0, "")
    found = (box / "sortie é" / "assessment.json").read_bytes()
    expected = (tables / "reports" / "avatars" / "assessment.json").read_bytes()
    assert found == expected
