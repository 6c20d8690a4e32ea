"""Fit one model on one table. Alone knows statsmodels; it gets arrays, never a formula."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalkit.analyses.designs import NotFitted, differing_rows
from evalkit.messages import say
from evalkit.record_parts import Estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from evalkit.analyses.designs import Design
    from evalkit.messages import Message

FEWEST_ROWS = 30
ROWS_PER_COEFFICIENT = 5
MOST_ROUNDS = 100
LARGEST_COEFFICIENT, LARGEST_ERROR = 15.0, 50.0
"""Of columns scaled to one standard deviation; beyond, the fit has run away to infinity."""
NO_REST = 1e-10
"""Share of the outcome's variance below which nothing is left to explain."""


@dataclass(frozen=True)
class Fit:
    """One model on one table.

    Attributes
    ----------
    estimates : tuple of Estimate, optional each
        For each column of the design; None where the column is constant in this table.
    """

    estimates: tuple[Estimate | None, ...]


def fit(kind: str, design: Design, *, intercept: bool) -> Fit:
    """Return the coefficients of a model with their 95 % intervals.

    Parameters
    ----------
    kind : str
        ``"linear"``, ``"logistic"`` or ``"cox"``.
    design : Design
        One table.
    intercept : bool
        A cox model never has one.

    Returns
    -------
    Fit

    Raises
    ------
    NotFitted
        If there are too few rows, columns depend on each other, the outcome is constant or
        separated, or the fit does not converge.
    """
    import numpy as np

    columns = [k for k, column in enumerate(design.matrix.T) if differing_rows(column) > 0]
    intercept = intercept and kind != "cox"
    _check_rows(design, len(columns) + intercept)
    _check_outcome(kind, design)
    centres = design.matrix[:, columns].mean(axis=0) if intercept or kind == "cox" else 0.0
    scales = design.matrix[:, columns].std(axis=0)
    scaled = (design.matrix[:, columns] - centres) / scales
    matrix = np.column_stack([np.ones(design.rows), scaled]) if intercept else scaled
    if not columns or np.linalg.matrix_rank(matrix) < matrix.shape[1]:
        raise NotFitted(_dependent(design.table))
    if kind != "linear":
        _check_separation(kind, design, columns)
    found = _quietly(kind, design, matrix)
    rest = found[:, 1:] if intercept else found
    _check_run_away(kind, rest, design.table)
    estimates: list[Estimate | None] = [None] * design.matrix.shape[1]
    for place, (value, low, high, p_value), scale in zip(columns, rest.T, scales, strict=True):
        numbers = [float(value / scale), float(low / scale), float(high / scale)]
        estimates[place] = Estimate(
            value=numbers[0], low=numbers[1], high=numbers[2], p_value=float(p_value)
        )
    return Fit(tuple(estimates))


def _quietly(kind: str, design: Design, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return value, low, high and p of each column, shape (4, columns); no warning surfaces."""
    import numpy as np

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            result = _MODELS[kind](design, matrix)
            found = np.vstack(
                [result.params, np.asarray(result.conf_int()).T, np.asarray(result.pvalues)]
            )
        except (np.linalg.LinAlgError, ValueError, ArithmeticError, IndexError):
            raise NotFitted(_not_converged(design.table)) from None
        except Exception as error:
            # The package has errors of its own for separated data.
            if type(error).__module__.partition(".")[0] != "statsmodels":
                raise
            raise NotFitted(_separated(design.table)) from None
    if not np.isfinite(found).all() or not _converged(result):
        raise NotFitted(_not_converged(design.table))
    return found


def _linear(design: Design, matrix: NDArray[np.float64]) -> Any:
    from statsmodels.regression.linear_model import OLS

    return OLS(design.outcome, matrix).fit()


def _logistic(design: Design, matrix: NDArray[np.float64]) -> Any:
    from statsmodels.discrete.discrete_model import Logit

    return Logit(design.outcome, matrix).fit(disp=0, maxiter=MOST_ROUNDS)


def _cox(design: Design, matrix: NDArray[np.float64]) -> Any:
    from statsmodels.duration.hazard_regression import PHReg

    # Efron's way with ties, the default of the survival packages.
    return PHReg(design.outcome, matrix, status=design.event, ties="efron").fit(disp=0)


_MODELS = {"linear": _linear, "logistic": _logistic, "cox": _cox}


def _converged(result: Any) -> bool:
    """Return whether an iterated fit says that it ended; a direct one always does."""
    returned = getattr(result, "mle_retvals", None) or {}
    return bool(returned.get("converged", True))


def _check_rows(design: Design, coefficients: int) -> None:
    """Refuse a table with too few rows for the number of coefficients."""
    needed = max(FEWEST_ROWS, ROWS_PER_COEFFICIENT * coefficients)
    if design.rows < needed:
        template = (
            "Table {table}: {rows} rows can be used for {coefficients} coefficients; {needed} are "
            "needed."
        )
        values = {"rows": design.rows, "coefficients": coefficients, "needed": needed}
        raise NotFitted(say("analysis_few_rows", template, table=design.table, **values))


def _check_outcome(kind: str, design: Design) -> None:
    """Refuse an outcome, or event, that is the same in every row."""
    told = design.event if kind == "cox" else design.outcome
    if told is None or differing_rows(told) == 0:
        template = "Table {table}: the outcome is the same in every row."
        raise NotFitted(say("analysis_constant", template, table=design.table))


def _check_separation(kind: str, design: Design, columns: Sequence[int]) -> None:
    """Refuse columns of two values of which one goes with one outcome only."""
    import numpy as np

    told = design.event if kind == "cox" else design.outcome
    for place in columns:
        column = design.matrix[:, place]
        values = np.unique(column)
        if len(values) != 2:  # noqa: PLR2004 - a column of yes and no
            continue
        for value in values:
            among = told[column == value]  # type: ignore[index]
            if not among.any() or (kind == "logistic" and among.all()):
                raise NotFitted(_separated(design.table))


def _check_run_away(kind: str, found: NDArray[np.float64], table: str) -> None:
    """Refuse coefficients that grew without bound, and a linear fit that leaves nothing over."""
    import numpy as np

    value, low, high, _ = found
    if kind == "linear":
        if np.all(high - low <= math.sqrt(NO_REST) * np.maximum(np.abs(value), 1e-300)):
            template = "Table {table}: the terms give the outcome exactly: nothing is left to fit."
            raise NotFitted(say("analysis_exact", template, table=table))
        return
    widest = float(np.max(high - low)) / (2 * 1.96)
    if float(np.max(np.abs(value))) > LARGEST_COEFFICIENT or widest > LARGEST_ERROR:
        raise NotFitted(_separated(table))


def _dependent(table: str) -> Message:
    """Return the reason where columns can be calculated from each other."""
    template = "Table {table}: some terms can be calculated from the others; drop one."
    return say("analysis_dependent", template, table=table)


def _not_converged(table: str) -> Message:
    """Return the reason where the fit found no end."""
    return say("analysis_not_converged", "Table {table}: the fit did not converge.", table=table)


def _separated(table: str) -> Message:
    """Return the reason where a coefficient would be infinite."""
    template = (
        "Table {table}: a term tells the outcome apart completely, so its coefficient has no bound."
    )
    return say("analysis_separated", template, table=table)
