"""Live controls beside a panel: the panel itself stays static and is what a notebook keeps.

A control is a widget, blank in a saved or exported notebook. What it changes is an ordinary output
that is displayed again in its place, so the last state is in the file like any other output.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from evalkit.running.progress import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from evalkit.explore.panel import Panel

MOST_BOXES: Final = 40
"""Columns that have a box of their own each; more stand in one list."""


def can_be_live() -> bool:
    """Return whether controls can answer: their package is there, and a person may look on."""
    return find_spec("ipywidgets") is not None and VARIABLE not in os.environ


@dataclass(frozen=True, eq=False)
class Choice:
    """A choice that the reader has.

    Attributes
    ----------
    label : str
        What is chosen.
    options : tuple of str
        From which.
    chosen : tuple of str
        At first.
    several : bool
        Whether several may be chosen at once.
    """

    label: str
    options: tuple[str, ...]
    chosen: tuple[str, ...]
    several: bool = False


@dataclass(frozen=True, eq=False)
class Live:
    """A panel with controls; where none can be, the panel alone.

    Attributes
    ----------
    look : callable
        Takes the chosen texts of each choice, by its label, and gives panels, each in the place
        of the one before: a first one at once, perhaps, and the one that stays.
    choices : tuple of Choice
        The controls, in their order.
    controls : bool
        Whether controls are wanted.
    """

    look: Callable[[Mapping[str, tuple[str, ...]]], Iterable[Panel]]
    choices: tuple[Choice, ...]
    controls: bool = True

    @property
    def panel(self) -> Panel:
        """Return what is shown before anything is moved."""
        *_, panel = self.look({one.label: one.chosen for one in self.choices})
        return panel

    def _ipython_display_(self) -> None:
        """Show the controls, if they can be live, and the panel below them."""
        from IPython.display import display

        if not (self.controls and can_be_live()):
            display(self.panel)  # type: ignore[no-untyped-call]
            return
        boxes = [_control(one) for one in self.choices]
        display(_beside([box for box, _ in boxes]))  # type: ignore[no-untyped-call]
        shown = display(self.panel, display_id=True)  # type: ignore[no-untyped-call]
        read = {one.label: chosen for one, (_, chosen) in zip(self.choices, boxes, strict=True)}

        def again(_: Any) -> None:
            for panel in self.look({label: chosen() for label, chosen in read.items()}):
                shown.update(panel)

        for box, _ in boxes:
            for one in _leaves(box):
                one.observe(again, names="value")

    def _repr_html_(self) -> str:
        """Return the panel for what asks for HTML alone."""
        return self.panel._repr_html_()

    def __repr__(self) -> str:
        return repr(self.panel)


def _control(choice: Choice) -> tuple[Any, Callable[[], tuple[str, ...]]]:
    """Return the widget of a choice, and what reads it."""
    import ipywidgets

    if not choice.several:
        start = choice.chosen[0] if choice.chosen else None
        menu = ipywidgets.Dropdown(options=choice.options, value=start, description=choice.label)
        menu.style.description_width = "initial"
        return menu, lambda: () if menu.value is None else (menu.value,)
    if len(choice.options) > MOST_BOXES:
        listed = ipywidgets.SelectMultiple(
            options=choice.options, value=choice.chosen, rows=12, description=choice.label
        )
        return listed, lambda: tuple(listed.value)
    boxes = [
        ipywidgets.Checkbox(value=name in choice.chosen, description=name, indent=False)
        for name in choice.options
    ]
    columns = ipywidgets.Layout(grid_template_columns="repeat(auto-fill, minmax(12rem, 1fr))")
    grid = ipywidgets.GridBox(boxes, layout=columns)
    return grid, lambda: tuple(one.description for one in boxes if one.value)


def _leaves(box: Any) -> Sequence[Any]:
    """Return the widgets that hold a value."""
    return getattr(box, "children", None) or [box]


def _beside(boxes: Sequence[Any]) -> Any:
    """Return the controls of one panel in one box."""
    import ipywidgets

    return ipywidgets.VBox(list(boxes))
