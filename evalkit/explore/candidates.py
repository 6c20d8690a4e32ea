"""Many avatar sets of the same originals: privacy against utility, to choose a setting."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evalkit.errors import InputError
from evalkit.explore.panel import Panel, interval_text, score_text
from evalkit.explore.tables import made_sets
from evalkit.running.progress import report_step

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from evalkit.records import Result

ENDINGS: Final = (".csv", ".csv.gz", ".parquet", ".tsv", ".txt", ".feather")
MOST_SETS: Final = 26
LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
PRIVACY: Final = "linkability_protection_rate"
UTILITY: Final = "correlation_difference_ratio"
FULL: Final = 100.0


@dataclass(frozen=True)
class Candidate:
    """One avatar set with its two scores.

    Attributes
    ----------
    letter, name : str
        Its letter in the drawing, and its file.
    privacy, utility : Result
        The two measures.
    """

    letter: str
    name: str
    privacy: Result
    utility: Result

    @property
    def measured(self) -> bool:
        """Whether both scores exist, as percentages that can be drawn."""
        return all(
            one.headline is not None and one.unit == "%" and one.headline <= FULL
            for one in (self.privacy, self.utility)
        )


@dataclass(frozen=True, eq=False, repr=False)
class Candidates:
    """Avatar sets, privacy against utility, with the targets drawn in.

    Attributes
    ----------
    sets : tuple of Candidate
        In the order of their names.
    targets : tuple of two (float or None)
        For privacy and for utility.
    slugs : tuple of two str
        The two measures.
    """

    sets: tuple[Candidate, ...]
    targets: tuple[float | None, float | None]
    slugs: tuple[str, str] = (PRIVACY, UTILITY)

    @property
    def unbeaten(self) -> tuple[str, ...]:
        """Return the letters of the sets that no other equals or beats in both scores."""
        from evalkit.figures.frontier import unbeaten

        return tuple(one["letter"] for one in unbeaten(self._points()))

    @property
    def meeting(self) -> tuple[str, ...]:
        """Return the letters of the sets that meet the targets; none without a target."""
        if self.targets == (None, None):
            return ()
        return tuple(
            one["letter"]
            for one in self._points()
            if all(
                target is None or one[key] >= target
                for key, target in zip(("privacy", "utility"), self.targets, strict=True)
            )
        )

    def frame(self) -> pd.DataFrame:
        """Return one row for each set: letter, name, scores and intervals."""
        import pandas as pd

        return pd.DataFrame([self._row(one) for one in self.sets])

    def _row(self, one: Candidate) -> dict[str, Any]:
        row: dict[str, Any] = {"letter": one.letter, "name": one.name}
        for key, result in (("privacy", one.privacy), ("utility", one.utility)):
            ends = result.interval or (None, None)
            row |= {key: result.headline, f"{key} low": ends[0], f"{key} high": ends[1]}
        return row

    def _points(self) -> list[dict[str, Any]]:
        return [
            {
                "letter": one.letter,
                "privacy": one.privacy.headline,
                "utility": one.utility.headline,
                "privacy_interval": one.privacy.interval,
                "utility_interval": one.utility.interval,
            }
            for one in self.sets
            if one.measured
        ]

    @property
    def panel(self) -> Panel:
        """Return table and drawing."""
        from evalkit.figures import ENGLISH, frontier

        unbeaten, meeting = self.unbeaten, self.meeting
        rows = tuple(
            (
                one.letter,
                one.name,
                *_cells(one.privacy),
                *_cells(one.utility),
                "yes" if one.letter in unbeaten else "no",
            )
            for one in self.sets
        )
        measures = [_name(one) for one in self.slugs]
        panel = {
            "privacy": measures[0],
            "utility": measures[1],
            "privacy_target": self.targets[0],
            "utility_target": self.targets[1],
            "releases": self._points(),
        }
        drawn = (frontier([panel], narrow=False, words=ENGLISH),) if panel["releases"] else ()
        told = self._told(unbeaten, meeting)
        head = ("", "set", measures[0], "95 % interval", measures[1], "95 % interval", "frontier")
        return Panel(
            f"{len(self.sets)} avatar sets, {len(unbeaten)} of them on the frontier",
            told,
            head,
            rows,
            drawn,
            note="Sets whose intervals overlap widely are not told apart by these scores.",
        )

    def _told(self, unbeaten: Sequence[str], meeting: Sequence[str]) -> tuple[str, ...]:
        told = [f"No other set equals or beats these in both scores: {', '.join(unbeaten)}."]
        if self.targets == (None, None):
            told.append("No target is set: which one is enough is for the controller to say.")
        elif meeting:
            told.append(f"The targets are met by: {', '.join(meeting)}.")
        else:
            told.append("No set meets the targets.")
        return tuple(told)

    def _repr_html_(self) -> str:
        """Return table and drawing for a notebook: static and escaped."""
        return self.panel._repr_html_()

    def __repr__(self) -> str:
        return repr(self.panel)


def candidate_sets(  # noqa: PLR0913 - the lines of the parameters cell
    original: str = "",
    avatars: str = "",
    holdout: str = "",
    *,
    known: Sequence[str] = (),
    sensitive: str = "",
    privacy: str = PRIVACY,
    utility: str = UTILITY,
    profile: str = "none",
    privacy_target: float = 0.0,
    utility_target: float = 0.0,
    seed: int = 0,
    **given: Any,
) -> Candidates:
    """Return the avatar sets in a folder, each with a privacy and a utility score.

    Parameters
    ----------
    original, holdout : str
        Paths; all empty for the embedded tables.
    avatars : str
        Folder of avatar sets, one file each, made with different settings.
    known : sequence of str
        Columns that the attacker is taken to hold; empty for every used column.
    sensitive : str
        Column whose inference is tested; empty for none.
    privacy, utility : str
        Slugs of the two measures.
    profile : str
        Target profile by name or file.
    privacy_target, utility_target : float
        Targets of your own; 0 for those of the profile.
    seed : int
        Of every draw.
    **given
        Options of `evalkit.load`; an empty text or list stands for its default.

    Returns
    -------
    Candidates

    Raises
    ------
    evalkit.InputError
        If the folder holds no or over 26 tables, or a table or measure cannot be used.

    Examples
    --------
    >>> from evalkit import explore
    >>> explore.candidate_sets("patients.csv", "avatars-of-k5.csv")
    Traceback (most recent call last):
    evalkit.errors.InputError: avatars: 'avatars-of-k5.csv' is no folder; give a folder of sets.
    """
    from evalkit import demo
    from evalkit.assessment import assess
    from evalkit.metrics import get
    from evalkit.release import load
    from evalkit.scenario import Scenario

    slugs = get(privacy).slug, get(utility).slug
    embedded = not (original or avatars or holdout)
    paths = demo.paths()
    sets: Mapping[str, Any] = made_sets() if embedded else _in_folder(original, avatars)
    first, last = (paths.original, paths.holdout) if embedded else (original, holdout or None)
    options = {name: value for name, value in given.items() if value not in ("", [])}
    scenario = Scenario(known=list(known) or None, sensitive=sensitive or None, seed=seed)
    found = []
    for place, (name, table) in enumerate(sets.items()):
        report_step(place, len(sets), f"Set {place + 1} of {len(sets)}")
        release = load(first, table, last, seed=seed, **options)
        results = assess(release, scenario, metrics=slugs, profile=profile or "none").results
        found.append(Candidate(LETTERS[place], name, results[slugs[0]], results[slugs[1]]))
    targets = (
        _target(privacy_target, found[0].privacy),
        _target(utility_target, found[0].utility),
    )
    return Candidates(tuple(found), targets, slugs)


def _in_folder(original: str, avatars: str) -> dict[str, Path]:
    """Return the avatar sets of a notebook's parameters."""
    if not original:
        raise InputError("original: no table is given; give the path of a file.")
    folder = Path(avatars)
    if not avatars or not folder.is_dir():
        name = folder.name if avatars else ""
        raise InputError(f"avatars: {name!r} is no folder; give a folder of sets.")
    return sets_in(folder)


def sets_in(folder: Path) -> dict[str, Path]:
    """Return the tables in a folder by name, numbers in names in their own order.

    Raises
    ------
    evalkit.InputError
        If there is none, or over 26.
    """
    files = [one for one in folder.iterdir() if one.name.lower().endswith(ENDINGS)]
    if not 1 <= len(files) <= MOST_SETS:
        message = f"avatars: the folder holds {len(files)} tables; give 1 to {MOST_SETS}."
        raise InputError(message)
    return {one.name: one for one in sorted(files, key=lambda one: _natural(one.name))}


def _natural(name: str) -> list[tuple[int, str]]:
    """Return a key under which k5 comes before k20.

    Examples
    --------
    >>> from evalkit.explore.candidates import _natural
    >>> sorted(["k20.csv", "k5.csv"], key=_natural)
    ['k5.csv', 'k20.csv']
    """
    parts = re.split(r"(\d+)", name.lower())
    return [(int(one), "") if one.isdecimal() else (-1, one) for one in parts]


def _target(asked: float, result: Result) -> float | None:
    """Return the target of a measure: the one asked for, else that of the profile."""
    if asked:
        return asked
    target = result.target
    return target.value if target is not None and target.operator in {">=", ">"} else None


def _name(slug: str) -> str:
    from evalkit.report.page_text import page_part

    return page_part(slug, "Name", "en")


def _cells(result: Result) -> tuple[str, str]:
    return score_text(result.headline), interval_text(result.interval)
