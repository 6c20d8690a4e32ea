r"""Multivariate Hellinger: whether the cloud of people keeps its shape.

For each pair of the first principal axes, with p and q the shares of WO and WA over a grid of
g x g cells, cut at the quantiles of WO:

    H(p, q) = sqrt(1 - sum_b sqrt(p_b * q_b))

    score = 100 * (1 - mean of H over the pairs of axes)

with WO the working originals and WA their avatars. Where people have several rows, clouds are those
of the rows, the grid goes by the number of people, and whole persons are dealt. Sources: Hellinger
distance, named by the vendor of the avatar method for several variables; grid and scale are our
own choice.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

from evalkit.messages import say
from evalkit.metric import Basis, Metric, Need, NotApplicable, Outcome, Section

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from evalkit.figures import Drawing
    from evalkit.kernels.dealt_axes import DealtAxes
    from evalkit.messages import Message
    from evalkit.persons import Persons
    from evalkit.quantities_axes import Axes, Coordinates
    from evalkit.release import Release
    from evalkit.scenario import Scenario

    Points = NDArray[np.float64]

SLUG = "multivariate_hellinger"
FEWEST_ROWS = 40
FEWEST_CELLS, MOST_CELLS = 2, 10
REDEALS, FEW_REDEALS = 100, 20
MANY_COLUMNS = 50
SHUFFLES = 5
DEALT_PEOPLE = 40_000  # of a large pool; distances are brought to the avatars' size anyway
FLOOR_ROWS = 100_000
NO_VARIANCE = 1e-9  # an axis of a smaller share holds rounding only
LITTLE_VARIANCE = 0.5
SHOWN_PAIRS = 6
SHOWN_VARIABLES = 3


def grid_for(rows: int) -> int:
    """Return the quantile cells on each axis for tables of at least `rows` rows, 2 to 10.

    Examples
    --------
    >>> from evalkit.metrics.multivariate_hellinger import grid_for
    >>> grid_for(40), grid_for(500), grid_for(5000)
    (2, 7, 10)
    """
    return min(MOST_CELLS, max(FEWEST_CELLS, math.isqrt(rows // 10)))


def distances(working: Points, others: Points, grid: int) -> dict[tuple[int, int], float]:
    """Return the Hellinger distance of two clouds for each pair of axes, 0 to 1.

    Parameters
    ----------
    working, others : ndarray of float64, shapes (n, axes) and (m, axes)
        Coordinates; the cells follow the quantiles of the first.
    grid : int
        Cells on each axis.

    Returns
    -------
    dict of (int, int) to float

    Examples
    --------
    >>> import numpy as np
    >>> from evalkit.metrics.multivariate_hellinger import distances
    >>> cloud = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0], [3.0, 4.0]])
    >>> distances(cloud, cloud, 2)
    {(0, 1): 0.0}
    >>> round(distances(cloud, cloud[::-1] + [[9.0, 0.0]], 2)[0, 1], 3)
    0.707
    """
    return Clouds(working, grid).distances(others)


class Clouds:
    """One cloud, to which others are compared cell by cell.

    Parameters
    ----------
    working : ndarray of float64, shape (n, axes)
        Coordinates, whose quantiles cut the axes.
    grid : int
        Cells on each axis.
    """

    def __init__(self, working: Points, grid: int) -> None:
        from evalkit.kernels.binning import AxisGrid

        self._grid, self._cuts = grid, AxisGrid(working, grid)
        self._pairs = list(itertools.combinations(range(working.shape[1]), 2))
        self._working = self._shares(working)

    def distances(self, others: Points) -> dict[tuple[int, int], float]:
        """Return the Hellinger distance to another cloud for each pair of axes, 0 to 1."""
        from evalkit.kernels.binning import hellinger_distance

        shares = self._shares(others)
        return {pair: hellinger_distance(self._working[pair], shares[pair]) for pair in self._pairs}

    def _shares(self, points: Points) -> dict[tuple[int, int], NDArray[np.float64]]:
        """Return the share of a cloud in each cell of each pair of axes."""
        from evalkit.kernels.binning import cell_shares

        cells, grid = self._cuts.cells(points), self._grid  # (axes, rows)
        return {
            (i, j): cell_shares(cells[i] * grid + cells[j], grid * grid) for i, j in self._pairs
        }


def score_of(found: Mapping[tuple[int, int], float], factor: float = 1.0) -> float:
    """Return the score of distances by pair of axes, each times `factor`, 0 to 100."""
    return 100 * (1 - math.fsum(min(1.0, factor * one) for one in found.values()) / len(found))


def compute(
    release: Release, scenario: Scenario, rng: np.random.Generator
) -> Outcome | NotApplicable:
    """Return the score beside those of unseen real rows and of shuffled columns."""
    from evalkit.quantities_axes import working_coordinates
    from evalkit.quantities_univariate import dealt_people

    del scenario
    frames = release.working, release.working_avatars, release.reference
    persons, n_avatars = dealt_people(release, halves=True)  # of WO and HO; of WA
    smallest = min(n_avatars, *(one.count for one in persons))
    if smallest < FEWEST_ROWS:
        return NotApplicable(_too_few_rows(release, smallest))
    space = working_coordinates(release)
    axes = int((space.axes.variance_shares > NO_VARIANCE).sum())
    if axes < 2:  # noqa: PLR2004 - a pair needs two axes
        return NotApplicable(_too_few_axes(axes))
    grid = grid_for(smallest)
    working, holdout = space.original[:, :axes], _holdout(space)[:, :axes]
    clouds = Clouds(working, grid)
    found = clouds.distances(space.avatars[:, :axes])
    unseen = clouds.distances(holdout)
    dealt, sampled = _redealt(release, persons, n_avatars, axes, grid, rng)
    floor, shuffled = _floor(release, space, clouds, axes, rng)
    facts = {
        "n_working": len(frames[0]),
        "n_working_avatars": len(frames[1]),
        "n_holdout": len(frames[2]),
        "grid": grid,
        "axes_used": axes,
        "variance_share": float(min(1.0, space.axes.variance_shares[:axes].sum())),
        "axes": _axes_in_words(space.axes, axes),
        "axis_pairs": _pairs(found, unseen),
        "mean_distance": math.fsum(found.values()) / len(found),
        "self_score": 100.0,
        "holdout_score": score_of(unseen),
        "floor_score": floor,
        "floor_count": SHUFFLES,
        **_band(dealt),
        **sampled,
        **shuffled,
    }
    return Outcome(score=score_of(found), warnings=tuple(_warnings(facts)), facts=facts)


def _holdout(space: Coordinates) -> Points:
    """Return the coordinates of HO, which these tables always have."""
    if space.holdout is None:
        raise ValueError("the working coordinates hold a holdout")
    return space.holdout


def _redealt(  # noqa: PLR0913, PLR0917 - what is dealt, to which sizes, and how it is looked at
    release: Release,
    persons: list[Persons],
    n_avatars: int,
    axes: int,
    grid: int,
    rng: np.random.Generator,
) -> tuple[Points, dict[str, int]]:
    """Return the score of real rows at the avatars' size for each re-deal of WO and HO.

    The axes are fitted anew on each: a cloud lies closer along its own axes than others do. Of a
    large pool a sample is dealt, whose size the facts say.
    """
    import numpy as np
    from threadpoolctl import threadpool_limits

    from evalkit.kernels.dealt_axes import DealtAxes
    from evalkit.quantities_tables import gathered_of

    columns, whose, facts = _pool(release, persons, rng)
    names = sorted(release.working.columns)
    n, n_holdout = (one.count for one in persons)
    # Of the people dealt as large a part is WO as of all people. Of a sample it is one half: a few
    # people of a small holdout would leave most cells empty, and then a distance grows otherwise.
    dealt_n = whose.count // 2 if facts else round(whose.count * n / (n + n_holdout))
    rest = whose.count - dealt_n
    # A distance between samples shrinks with 1/n + 1/m; this brings it to the avatars' size.
    to_avatars = math.sqrt((1 / n + 1 / n_avatars) / (1 / dealt_n + 1 / rest))
    number = FEW_REDEALS if len(names) > MANY_COLUMNS else REDEALS
    deals = ((rng.permutation(whose.count) < dealt_n)[whose.code] for _ in range(number))
    with threadpool_limits(1 if facts else None):
        space = DealtAxes(columns, [release.schema[name].is_number for name in names], axes)
    shared = space, grid, to_avatars
    if facts:
        return np.array(gathered_of(score_of_deal, deals, shared)), facts
    return np.array([_deal_score(dealt, *shared) for dealt in deals]), facts


def score_of_deal(dealt: NDArray[np.bool_], shared: tuple[DealtAxes, int, float]) -> float:
    """Return the score of one deal of people out of a large pool: a partial."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # sums in one order, however many processors there are
        return _deal_score(dealt, *shared)


def _deal_score(dealt: NDArray[np.bool_], space: DealtAxes, grid: int, to_avatars: float) -> float:
    """Return the score of the people dealt, beside the others, at the avatars' size."""
    points = space.coordinates(dealt)
    return score_of(distances(points[dealt], points[~dealt], grid), to_avatars)


def _pool(
    release: Release, persons: list[Persons], rng: np.random.Generator
) -> tuple[list[NDArray[Any]], Persons, dict[str, int]]:
    """Return the columns of WO and HO in an order of content, whose the rows are, and a sample."""
    import numpy as np

    from evalkit.quantities import cells, content_order
    from evalkit.quantities_dealt_groups import LARGE_POOL, is_sampled, sampled_rows
    from evalkit.quantities_univariate import ordered_persons

    facts: dict[str, int] = {}
    kept: list[Any] = [slice(None), slice(None)]
    if is_sampled(sum(one.count for one in persons), LARGE_POOL):
        kept = list(sampled_rows(release, ("working", "reference"), DEALT_PEOPLE, rng))
        persons = [one.part(rows) for one, rows in zip(persons, kept, strict=True)]
        facts["redeal_people"] = DEALT_PEOPLE
    columns = [
        np.concatenate(
            [
                cells(frame, release.schema, name)[rows]
                for frame, rows in zip(_real(release), kept, strict=True)
            ]
        )
        for name in sorted(release.working.columns)
    ]
    order = content_order(list(columns))
    return [column[order] for column in columns], ordered_persons(persons, order), facts


def _real(release: Release) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return WO and HO."""
    return release.working, release.reference


def _band(dealt: Points) -> dict[str, Any]:
    """Return mean and middle 95 % of the scores of real rows."""
    import numpy as np

    low, high = np.quantile(dealt, [0.025, 0.975])
    return {
        "real_score": math.fsum(dealt) / len(dealt),
        "real_low": float(low),
        "real_high": float(high),
        "redeal_count": len(dealt),
    }


def _floor(
    release: Release, space: Coordinates, clouds: Clouds, axes: int, rng: np.random.Generator
) -> tuple[float, dict[str, int]]:
    """Return the mean score of avatars whose columns are shuffled, each by itself.

    Of large tables a sample of so shuffled rows, whose size the facts say.
    """
    import numpy as np

    from evalkit.quantities import cells
    from evalkit.quantities_dealt_groups import is_sampled

    frame, fitted = release.working_avatars, space.axes
    sampled = is_sampled(len(frame), FLOOR_ROWS)
    shuffled: list[list[NDArray[Any]]] = [[] for _ in range(SHUFFLES)]
    if sampled:
        for name in fitted.names:  # one whole column at a time
            column = np.sort(cells(frame, release.schema, name))
            for one in shuffled:
                one.append(rng.choice(column, FLOOR_ROWS, replace=False))
    else:
        # Sorted, so that the order of the rows never matters.
        columns = [np.sort(cells(frame, release.schema, name)) for name in fitted.names]
        for one in shuffled:
            one += [rng.permutation(column) for column in columns]
    points = (fitted.coordinates_of(one)[:, :axes] for one in shuffled)
    scores = [score_of(clouds.distances(one)) for one in points]
    facts = {"floor_rows": FLOOR_ROWS} if sampled else {}
    return math.fsum(scores) / len(scores), facts


def _axes_in_words(fitted: Axes, axes: int) -> list[dict[str, Any]]:
    """Return the share of each axis and the variables that it is made of most."""
    found = []
    for axis, weights in enumerate(fitted.contributions().T[:axes]):
        order = sorted(range(len(weights)), key=lambda k: (-round(float(weights[k]), 9), k))
        found.append(
            {
                "axis": axis + 1,
                "share": round(float(fitted.variance_shares[axis]), 3),
                "variables": [
                    fitted.names[k] for k in order[:SHOWN_VARIABLES] if weights[k] > NO_VARIANCE
                ],
            }
        )
    return found


def _pairs(
    found: Mapping[tuple[int, int], float], unseen: Mapping[tuple[int, int], float]
) -> list[dict[str, Any]]:
    """Return what the clouds share on each pair of axes, the worst first."""
    worst = sorted(found, key=lambda pair: (-round(found[pair], 9), pair))
    return [
        {
            "first": i + 1,
            "second": j + 1,
            "avatars": round(1 - found[i, j], 3),
            "holdout": round(1 - unseen[i, j], 3),
        }
        for i, j in worst[:SHOWN_PAIRS]
    ]


def _warnings(facts: Mapping[str, Any]) -> list[Message]:
    """Return what the reader must know beside the score."""
    if facts["variance_share"] >= LITTLE_VARIANCE:
        return []
    return [
        say(
            "axes_hold_little",
            "The {axes} axes hold {percent:.0f} % of the variance: what happens in the rest is not "
            "seen. Ask for more with --axes.",
            axes=facts["axes_used"],
            percent=100 * facts["variance_share"],
        )
    ]


def _too_few_rows(release: Release, rows: int) -> Message:
    """Return the reason why tables are too small."""
    remedy = "Give larger tables." if release.holdout_kind == "real" else "Give a real holdout."
    unit = "rows" if release.individual is None else "persons"
    return say(
        "too_few_rows_for_clouds",
        f"The shape of a cloud needs {{fewest}} {unit} in each table, and the smallest has "
        f"{{rows}}. {remedy}",
        fewest=FEWEST_ROWS,
        rows=rows,
        variant=release.holdout_kind,
    )


def _too_few_axes(axes: int) -> Message:
    """Return the reason why there is no pair of axes."""
    return say(
        "too_few_axes",
        "A cloud needs two axes along which the originals differ, and there are {axes}. Use more "
        "columns, or ask for two axes or more with --axes.",
        axes=axes,
    )


def draw(result: Mapping[str, Any], words: Mapping[str, str], narrow: bool) -> tuple[Drawing, ...]:
    """Return the figure of the report from the plain result."""
    from evalkit.figures import group_drawing

    rows = [
        {
            "name": "figure_axes",
            "values": {"first": pair["first"], "second": pair["second"]},
            "success": pair["avatars"],
            "control": pair["holdout"],
        }
        for pair in result["facts"]["axis_pairs"]
    ]
    return (group_drawing(rows, narrow=narrow, words=words, people=False),)


METRIC = Metric(
    slug=SLUG,
    version=1,
    section=Section.UTILITY,
    level="multivariate",
    basis=Basis.COMPARISON,
    compute=compute,
    draw=draw,
    needs=frozenset({Need.HOLDOUT}),
    by_person=True,
    copy_score=100.0,
)
