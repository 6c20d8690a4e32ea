"""The assessments of a batch, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from evalkit.batch.fingerprint import fingerprint, is_made, leave_mark
from evalkit.records import Assessment
from evalkit.running.kernel_process import import_path
from evalkit.running.output_folder import ASSESSMENT
from evalkit.running.plain_values import PATHS, one_line, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalkit.batch.listing import Job

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
    tell : callable
        Called with a line for each that is over.

    Returns
    -------
    tuple of Done
        In the order of `jobs`.
    """
    crew, found = _Crew(), {}
    pool = ThreadPoolExecutor(workers)
    try:
        waiting = {pool.submit(_one, job, folder / job.name, crew): job for job in jobs}
        for place, future in enumerate(as_completed(waiting), start=1):
            done = future.result()
            found[done.job.name] = done
            reason = f": {done.reason}" if done.reason else ""
            tell(f"[{place}/{len(jobs)}] {done.job.name} {done.outcome}{reason}")
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        crew.end()
        raise
    pool.shutdown()
    return tuple(found[job.name] for job in jobs)


def _one(job: Job, folder: Path, crew: _Crew) -> Done:
    """Make one assessment, unless its folder holds it already."""
    wanted = fingerprint(job.options)
    if is_made(folder, wanted):
        with suppress(Exception):  # A report that cannot be read is made again.
            return Done(job, UNCHANGED, "", Assessment.read(folder / ASSESSMENT))
    with TemporaryDirectory(prefix="evalkit-") as private:
        config = Path(private) / "assessment.yaml"
        config.write_text(json.dumps(_absolute(job.options)), encoding="utf-8")
        boot = _BOOT.format(path=import_path())
        python = [sys.executable, "-I", "-X", "utf8", "-c", boot]
        arguments = ["assess", "--config", str(config), "-o", str(folder.absolute()), "--quiet"]
        code, said = crew.run([*python, *arguments])
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
