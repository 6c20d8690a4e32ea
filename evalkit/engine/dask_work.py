"""What a Dask worker does with one piece; sent to it by name, so that it needs evalkit too."""

from __future__ import annotations

import pickle
import threading
from dataclasses import dataclass
from typing import Any

_AT_WORK = threading.Lock()


@dataclass(frozen=True)
class Answer:
    """What became of one piece.

    Attributes
    ----------
    state : object
        What the partial returned.
    raised : Exception, optional
        What it raised instead. An error that comes any other way is one of the cluster.
    """

    state: Any = None
    raised: Exception | None = None


def packed(partial: Any, piece: Any) -> bytes:
    """Return a partial and its piece as bytes.

    A scheduler passes bytes on without looking into them.

    Examples
    --------
    >>> from evalkit.engine.dask_work import answer, packed
    >>> answer(packed(divmod, 7), 2).state
    (3, 1)
    """
    return pickle.dumps((partial, piece), protocol=pickle.HIGHEST_PROTOCOL)


def answer(content: bytes, shared: Any) -> Answer:
    """Return what a partial makes of its piece; called in a worker.

    Parameters
    ----------
    content : bytes
        From `packed`.
    shared : object
        What every piece needs.

    Returns
    -------
    Answer
    """
    # A worker may have several threads; a kernel uses all processors that it finds, and the
    # limits of threads are those of a whole process.
    with _AT_WORK:
        partial, piece = pickle.loads(content)  # noqa: S301 - packed by the driver of this run
        try:
            return Answer(partial(piece, shared))
        except Exception as error:  # noqa: BLE001 - raised again where the states are awaited
            return Answer(raised=_portable(error))


def _portable(error: Exception) -> Exception:
    """Return an error that another process can read."""
    try:
        again = pickle.loads(pickle.dumps(error))  # noqa: S301 - made in the line itself
    except Exception:  # noqa: BLE001 - whatever cannot be sent is named instead
        return RuntimeError(type(error).__name__)
    return error if type(again) is type(error) else RuntimeError(type(error).__name__)
