"""Help that reads well: options under headings, examples at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable


class GroupedOption(click.Option):
    """An option that knows under which heading it stands.

    Parameters
    ----------
    *arguments, **settings
        Those of `click.Option`.
    heading : str
        Heading in the help.
    """

    def __init__(self, *arguments: Any, heading: str = "Options", **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.heading = heading


class GroupedCommand(click.Command):
    """A command whose help lists the options under their headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one list for each heading, in the order of the options."""
        lists: dict[str, list[tuple[str, str]]] = {}
        options = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        for one in options:
            record = one.get_help_record(ctx)
            if record is not None:
                lists.setdefault(getattr(one, "heading", "Help"), []).append(record)
        for heading, records in lists.items():
            with formatter.section(heading):
                formatter.write_dl(records)


def option(*names: str, heading: str = "Options", **settings: Any) -> Callable[[Any], Any]:
    """Return the decorator of an option that stands under `heading`.

    Examples
    --------
    >>> import click
    >>> from evalkit.commands.grouped import GroupedCommand, option
    >>> @click.command(cls=GroupedCommand)
    ... @option("--axes", heading="Numbers", type=int)
    ... def show(axes): ...
    >>> show.params[0].heading
    'Numbers'
    """
    return click.option(*names, cls=GroupedOption, heading=heading, **settings)
