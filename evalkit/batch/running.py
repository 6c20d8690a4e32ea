"""The assessments of a batch, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import deque
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from evalkit.batch.elsewhere import Order, assess_there
from evalkit.batch.fingerprint import fingerprint, is_made, leave_mark
from evalkit.errors import InputError, one_line
from evalkit.records import Assessment
from evalkit.running.kernel_process import import_path
from evalkit.running.output_folder import ASSESSMENT, NOTEBOOK, REPORT_FILES, check_output
from evalkit.running.plain_values import PATHS, shortened
from evalkit.whole_files import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from evalkit.batch.elsewhere import Made
    from evalkit.batch.listing import Job
    from evalkit.engine import Engine

MADE, UNCHANGED, FAILED = "made", "unchanged", "failed"
_SECONDS_TO_END: Final = 20.0
_OK: Final = (0, 3)
_BOOT: Final = """\
import sys
sys.path[:] = {path!r}
from evalkit.start import main
sys.exit(main())
"""


@dataclass(frozen=True)
class Done:
    """What became of one assessment.

    Attributes
    ----------
    job : Job
    outcome : str
        ``"made"``, ``"unchanged"`` or ``"failed"``.
    reason : str
        Why it failed, in one line; else empty.
    assessment : Assessment or None
        None where it failed.
    """

    job: Job
    outcome: str
    reason: str = ""
    assessment: Assessment | None = None

    @property
    def targets_missed(self) -> bool:
        """Whether its targets were required and are not all met."""
        from evalkit.commands.assess import targets_met

        required = bool(self.job.options.get("require_targets"))
        return required and self.assessment is not None and not targets_met(self.assessment)


@dataclass
class _Crew:
    """The processes at work, so that all can be ended."""

    at_work: list[subprocess.Popen[str]] = field(default_factory=list)
    over: bool = False

    def run(self, command: list[str]) -> tuple[int, str]:
        """Return exit code and last line of the error stream of a command."""
        process = subprocess.Popen(  # noqa: S603 - this very Python, with arguments made here
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        self.at_work.append(process)
        if self.over:
            process.terminate()
        _, said = process.communicate()
        self.at_work.remove(process)
        lines = [line for line in said.splitlines() if line.strip()]
        return process.returncode, lines[-1] if lines else f"ended with {process.returncode}"

    def end(self) -> None:
        """Ask every process to end, and wait a little for what it takes back."""
        self.over = True
        for process in list(self.at_work):
            process.terminate()
        for process in list(self.at_work):
            with suppress(subprocess.TimeoutExpired):
                process.wait(_SECONDS_TO_END)
            if process.poll() is None:
                process.kill()


def run_all(
    jobs: Sequence[Job],
    folder: Path,
    *,
    workers: int = 1,
    engine: Engine | None = None,
    tell: Callable[[str], Any] = lambda _: None,
) -> tuple[Done, ...]:
    """Make every assessment that is not made yet; one that fails does not stop the others.

    Parameters
    ----------
    jobs : sequence of Job
        From `read_list`.
    folder : pathlib.Path
        Each goes into the folder of its name below it.
    workers : int
        Assessments at the same time; each needs the memory of one.
    engine : Engine, optional
        Of a cluster, each of whose workers then makes one assessment at a time. They find the
        tables under the same paths; the reports are written here. Default this machine.
    tell : callable
        Called with a line for each that is over.

    Returns
    -------
    tuple of Done
        In the order of `jobs`.

    Raises
    ------
    evalkit.InputError
        If the cluster is lost; what was made is there, and the rest is made by the next run.
    """
    found = {}
    over = _here(jobs, folder, workers) if engine is None else _there(jobs, folder, engine)
    with closing(over):
        for place, done in enumerate(over, start=1):
            found[done.job.name] = done
            reason = f": {done.reason}" if done.reason else ""
            tell(f"[{place}/{len(jobs)}] {done.job.name} {done.outcome}{reason}")
    return tuple(found[job.name] for job in jobs)


def _here(jobs: Sequence[Job], folder: Path, workers: int) -> Generator[Done, None, None]:
    """Yield what is over, made by processes of this machine."""
    crew, pool = _Crew(), ThreadPoolExecutor(workers)
    try:
        waiting = [pool.submit(_one, job, folder / job.name, crew) for job in jobs]
        for future in as_completed(waiting):
            yield future.result()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        crew.end()
        raise
    pool.shutdown()


def _there(jobs: Sequence[Job], folder: Path, engine: Engine) -> Generator[Done, None, None]:
    """Yield what is over, made by the workers of a cluster."""
    rest: deque[tuple[Job, str | None]] = deque()
    for job in jobs:
        wanted = fingerprint(job.options)
        done = _kept(job, folder / job.name, wanted) or _refused(job, folder / job.name)
        if done:
            yield done
        else:
            rest.append((job, wanted))
    while rest:
        orders = [Order(job.name, _absolute(job.options)) for job, _ in rest]
        try:
            for made in engine.states(assess_there, orders, None):
                job, wanted = rest.popleft()
                yield _taken(job, folder / job.name, wanted, made)
        except InputError as error:
            if engine.lost:
                raise
            yield Done(rest.popleft()[0], FAILED, str(error))


def _kept(job: Job, folder: Path, wanted: str | None) -> Done | None:
    """Return an assessment that the folder holds already."""
    if is_made(folder, wanted):
        with suppress(Exception):  # A report that cannot be read is made again.
            return Done(job, UNCHANGED, "", Assessment.read(folder / ASSESSMENT))
    return None


def _refused(job: Job, folder: Path) -> Done | None:
    """Return that the folder cannot take a report, before anybody works for it."""
    try:
        check_output(folder)
    except InputError as error:
        return Done(job, FAILED, shortened(str(error)))
    return None


def _taken(job: Job, folder: Path, wanted: str | None, made: Made) -> Done:
    """Write the files of an assessment that was made elsewhere."""
    try:
        if made.files:
            replaced = (*REPORT_FILES, f"{Path(NOTEBOOK).stem}.failed.ipynb")
            write_whole(folder, made.files, remove=replaced if made.code in _OK else ())
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return Done(
            job, FAILED, f"Output: the folder {folder.name!r} cannot be written ({reason})."
        )
    return _settled(job, folder, wanted, made.code, made.said)


def _one(job: Job, folder: Path, crew: _Crew) -> Done:
    """Make one assessment, unless its folder holds it already."""
    wanted = fingerprint(job.options)
    if kept := _kept(job, folder, wanted):
        return kept
    with TemporaryDirectory(prefix="evalkit-") as private:
        config = Path(private) / "assessment.yaml"
        config.write_text(json.dumps(_absolute(job.options)), encoding="utf-8")
        boot = _BOOT.format(path=import_path())
        python = [sys.executable, "-I", "-X", "utf8", "-c", boot]
        arguments = ["assess", "--config", str(config), "-o", str(folder.absolute()), "--quiet"]
        code, said = crew.run([*python, *arguments])
    return _settled(job, folder, wanted, code, said)


def _settled(job: Job, folder: Path, wanted: str | None, code: int, said: str) -> Done:
    """Return what became of an assessment, by the exit code of its process."""
    if code not in _OK:
        return Done(job, FAILED, shortened(one_line(said.removeprefix("evalkit: "))))
    leave_mark(folder, wanted)
    return Done(job, MADE, "", Assessment.read(folder / ASSESSMENT))


def _absolute(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options with paths that another folder does not change."""
    changed = {}
    for name in PATHS:
        value = options.get(name)
        is_name = name == "profile" and not str(value).endswith((".yaml", ".yml"))
        if isinstance(value, str) and value and "://" not in value and not is_name:
            changed[name] = str(Path(value).absolute())
    return options | changed
