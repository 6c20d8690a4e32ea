"""The command line: parse, call, print; no logic.

Exit codes: 0 done, 1 internal error, 2 bad input, 3 done and the answer is no; 130, 143 or 129
after Ctrl-C, SIGTERM or SIGHUP.
"""

from __future__ import annotations

import difflib
import errno
import os
import sys
import traceback
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalkit import __version__
from evalkit.errors import InputError, one_line
from evalkit.running.plain_values import shortened
from evalkit.start import Interrupted

if TYPE_CHECKING:
    from collections.abc import Sequence

DONE, INTERNAL, BAD_INPUT, ANSWER_IS_NO, INTERRUPTED = 0, 1, 2, 3, 130
FULL = frozenset({errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)})

COMMANDS = {
    "demo": "Make a full report of embedded data.",
    "assess": "Assess avatars against their originals; write the report.",
    "split": "Set a holdout aside before the anonymisation.",
    "inspect": "Show what would be read as what; write a schema to edit.",
    "metrics": "List the metrics, or explain one.",
    "compare": "Put two or more assessments side by side.",
    "explore": "Open the exploration notebooks in JupyterLab, parameters filled in.",
    "batch": "Make many assessments from a list.",
    "render": "Make HTML and PDF from an assessment.json, without the data.",
    "verify": "Check a report: is it whole, do files and results hold.",
}
"""Names and first lines, so that the help needs none of the modules."""

_EPILOG = """\b
Examples:
  evalkit demo
  evalkit split patients.csv -o parts
  evalkit assess parts/working.csv avatars.csv --holdout parts/holdout.csv
  evalkit metrics linkability_protection_rate
"""


class LazyGroup(click.Group):
    """A group that imports a command when it is called, and suggests near names."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in their order of use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return one command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"evalkit.commands.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Refuse an unknown command and name the nearest."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"commands: {', '.join(COMMANDS)}."
            raise click.UsageError(f"There is no command {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="evalkit %(version)s")
@click.pass_context
def group(context: click.Context) -> None:
    """Evaluate synthetic (avatar) data: privacy and utility scores and a report."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Default: those of the process.

    Returns
    -------
    int

    Examples
    --------
    >>> from evalkit.cli import main
    >>> main(["--version"])
    evalkit 0.1.0
    0
    """
    given = None if arguments is None else list(arguments)
    try:
        code = group.main(given, prog_name="evalkit", standalone_mode=False)
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):
        # Whoever read our output has left (click then ends with 1, even when told not to end).
        _close_output()
        return DONE
    except (Exception, KeyboardInterrupt, Interrupted) as error:  # noqa: BLE001 - one line for each
        return _say(*_ending(error))
    return code if isinstance(code, int) else DONE


def _ending(error: BaseException) -> tuple[str, int]:
    """Return the line and the exit code for what ended a command."""
    if isinstance(error, Interrupted):
        return "interrupted", error.code
    if isinstance(error, click.Abort | KeyboardInterrupt):
        return "interrupted", INTERRUPTED
    if isinstance(error, click.ClickException):
        return _usage_line(error), BAD_INPUT
    if isinstance(error, InputError):
        return str(error), BAD_INPUT
    if isinstance(error, OSError) and error.errno in FULL:
        _close_output()
        reason = error.strerror or "no space left"
        return f"{reason}: free some space where output or temporary files go.", BAD_INPUT
    return _report_line(error), INTERNAL


def _close_output() -> None:
    """Let nothing more be written: Python would complain when it closes the stream."""
    if sys.stdout is sys.__stdout__:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115


def _say(line: str, code: int) -> int:
    """Write one line to the error stream and return `code`."""
    with suppress(OSError):  # Nobody is left to be told.
        click.echo(f"evalkit: {shortened(one_line(line))}", err=True)
    return code


def _usage_line(error: click.ClickException) -> str:
    """Return a usage error of click in one line."""
    context: Any = getattr(error, "ctx", None)
    path = context.command_path if context else "evalkit"
    said = error.format_message()
    return f"{said}{'' if said.endswith(('.', '?', '!')) else '.'} See '{path} --help'."


def _report_line(error: BaseException) -> str:
    """Return what may be told of an unforeseen error: its kind and place, no value."""
    from evalkit.running import NotebookError

    if isinstance(error, NotebookError):
        cause = str(error)
    else:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if Path(frame.filename).parts[-2:-1] == ("evalkit",)]
        place = f" at {Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else ""
        reason = f" ({error.strerror})" if isinstance(error, OSError) and error.strerror else ""
        cause = f"{type(error).__name__}{reason}{place}"
    return (
        f"internal error: {cause}. Please report this line to the authors of evalkit "
        f"{__version__}; it holds no data."
    )
