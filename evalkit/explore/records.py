"""The records at risk: for the controller's eyes, live in an open notebook and in no file.

A notebook keeps outputs, and it may keep the state of widgets. The records are neither: they are
sent to an open page as a message when a person asks for them there, and are put into that page as
text. Executed without a person, nothing is sent.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from evalkit.errors import InputError
from evalkit.explore.linkability import LinkabilityBench
from evalkit.explore.panel import Panel
from evalkit.running.progress import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from evalkit.release import Release

MOST_SENT: Final = 500
PROBABILITY: Final = "probability"

# Texts are set as text, never as markup; nothing is kept but in the page itself.
SCRIPT: Final = """
function render({ model, el }) {
  const button = document.createElement("button");
  const place = document.createElement("div");
  const words = ["Show the records at risk", "Hide them"];
  button.textContent = words[0];
  button.className = "evalkit-show-records";
  button.style.cssText = "font:inherit;padding:.3rem .8rem;margin:.3rem 0;cursor:pointer";
  place.className = "evalkit-records";
  place.style.cssText = "max-height:26rem;overflow:auto";
  let shown = false;
  button.onclick = () => {
    shown = !shown;
    button.textContent = words[Number(shown)];
    place.replaceChildren();
    if (shown) model.send({ ask: "records" });
  };
  const row = (cells, tag) => {
    const line = document.createElement("tr");
    for (const cell of cells) {
      const box = document.createElement(tag);
      box.textContent = cell;
      box.style.cssText = "text-align:left;padding:.1rem .8rem .1rem 0";
      line.append(box);
    }
    return line;
  };
  model.on("msg:custom", (message) => {
    if (!shown) return;
    const table = document.createElement("table");
    table.append(row(message.head, "th"), ...message.rows.map((cells) => row(cells, "td")));
    place.replaceChildren(table);
  });
  el.append(button, place);
}
export default { render };
"""


@dataclass(frozen=True, eq=False, repr=False)
class RecordsAtRisk:
    """Originals that an attacker would probably link, and how to see them.

    What a notebook displays is their number. See `records_at_risk`.

    Attributes
    ----------
    known : tuple of str
        What the attacker is taken to hold.
    at_least : float
        Probability of a link from which a record is at risk, over 0 and up to 1.
    controllers_eyes : bool
        Whether the records were asked for.
    """

    known: tuple[str, ...]
    at_least: float
    controllers_eyes: bool
    _bench: LinkabilityBench

    def __len__(self) -> int:
        return len(self._rows())

    @property
    def panel(self) -> Panel:
        """Return how many records are at risk and how to see which."""
        total = len(self._bench.release.original)
        few = self._how_to_see()
        return Panel(
            f"{len(self):,} of {total:,} originals are linked with a probability of "
            f"{self.at_least:g} or more",
            (f"The attacker holds: {', '.join(self.known)}.", few),
        )

    def frame(self) -> pd.DataFrame:
        """Return the records at risk as a table, for a console: the most probable first.

        Returns
        -------
        pandas.DataFrame
            ``row`` (from 1, as in the file of the originals), ``probability``, the sizes of the
            two sets of nearest avatars, then the known variables. Shown as the last line of a
            notebook's cell it would be saved with the notebook, like any table of your own.

        Raises
        ------
        evalkit.InputError
            If the records were not asked for.
        """
        if not self.controllers_eyes:
            raise InputError("records: hidden; say controllers_eyes=True to see them.")
        import pandas as pd

        attack = self._bench.originals.pairing
        halves = self._bench.halves(self.known)
        sizes = [attack.shared(half).size for half in halves]
        rows = self._rows()
        facts = pd.DataFrame(
            {
                "row": rows + 1,
                PROBABILITY: self._probability()[rows],
                "nearest in first half": sizes[0][rows],
                "nearest in second half": sizes[1][rows],
            }
        )
        cells = self._bench.release.original.iloc[rows][list(self.known)].reset_index(drop=True)
        return pd.concat([facts, cells], axis=1)

    def _probability(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the probability of a link of each row of the originals."""
        from evalkit.quantities import link_probability

        pairing = self._bench.originals.pairing
        first, second = self._bench.halves(self.known)
        return link_probability(pairing.shared(first), pairing.shared(second)).probability

    def _rows(self) -> np.ndarray[Any, np.dtype[np.intp]]:
        """Return the rows at risk, the most probable first."""
        probability = self._probability()
        rows = np.flatnonzero(probability >= self.at_least)
        return rows[np.argsort(-probability[rows], kind="stable")]

    def _how_to_see(self) -> str:
        if not self.controllers_eyes:
            return "Which ones is hidden; set controllers_eyes = True to see them in this page."
        if find_spec("anywidget") is None:
            return (
                "To see them in this page install the extra 'explore'; in a console, use .frame()."
            )
        return (
            "The button shows them in this page only: they are in no output and in no saved "
            "notebook."
        )

    def _ipython_display_(self) -> None:
        """Show the number, and a button where the records were asked for and can be live."""
        from IPython.display import display

        display(self.panel)  # type: ignore[no-untyped-call]
        if self.controllers_eyes and find_spec("anywidget") is not None:
            display(self._button())  # type: ignore[no-untyped-call]

    def _button(self) -> Any:
        """Return a widget whose state holds its script, and never a record."""
        import anywidget

        widget = type("RecordsOnScreen", (anywidget.AnyWidget,), {"_esm": SCRIPT})()

        def answer(_: Any, content: Any, __: Any) -> None:
            if content == {"ask": "records"}:
                widget.send(self._message())

        widget.on_msg(answer)
        return widget

    def _message(self) -> dict[str, Any]:
        """Return what is sent to the page: texts only."""
        frame = self.frame().head(MOST_SENT).round({PROBABILITY: 3})
        rows = frame.astype(object).where(frame.notna(), "").astype(str).to_numpy().tolist()
        return {"head": list(map(str, frame.columns)), "rows": rows}

    def _repr_html_(self) -> str:
        """Return the number of records alone."""
        return self.panel._repr_html_()

    def __repr__(self) -> str:
        return repr(self.panel)

    def __reduce__(self) -> NoReturn:
        raise TypeError("records at risk are shown, and not saved")


def records_at_risk(
    release: Release,
    known: Sequence[str] = (),
    *,
    at_least: float = 0.5,
    controllers_eyes: bool = False,
    seed: int = 0,
) -> RecordsAtRisk:
    """Return the originals that linkability probably links, for the controller's eyes only.

    Parameters
    ----------
    release : Release
        The tables.
    known : sequence of str
        Columns that the attacker is taken to hold; empty for every used column.
    at_least : float
        Probability of a link from which a record is at risk, over 0 and up to 1.
    controllers_eyes : bool
        Whether the records themselves may be shown. In a notebook a button then shows them in
        the open page; a run without a person is refused.
    seed : int
        As in `Scenario`.

    Returns
    -------
    RecordsAtRisk

    Raises
    ------
    evalkit.InputError
        If a column does not exist, `at_least` is out of range, or records are asked for in a
        notebook that evalkit runs by itself.

    Examples
    --------
    >>> import pandas as pd, evalkit
    >>> from evalkit import explore
    >>> table = pd.DataFrame({"age": [20, 30, 40, 50], "size": [1, 2, 3, 4]})
    >>> len(explore.records_at_risk(evalkit.load(table, table)))
    4
    """
    if not 0 < at_least <= 1:
        raise InputError("at_least: give a probability over 0 and up to 1.")
    if controllers_eyes and VARIABLE in os.environ:
        raise InputError(
            "controllers_eyes: records are shown to a person in an open notebook, never in an "
            "executed one; open the notebook with 'evalkit explore'."
        )
    bench = LinkabilityBench(release, seed)
    chosen = tuple(sorted(known)) or bench.names
    bench.halves(chosen)
    return RecordsAtRisk(chosen, float(at_least), controllers_eyes, bench)
