"""Work in blocks on a plain pool of threads, which an interrupt stops at once."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

WORTH_A_THREAD = 50_000

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Crew:
    """Who does the work, and who is told.

    Parameters
    ----------
    threads : int
        At least 1.
    progress : callable, optional
        Called from the thread that waits, with the items done and the total.
    """

    threads: int
    progress: Callable[[int, int], None] | None = None


def gather_crew(threads: int | None, progress: Callable[[int, int], None] | None = None) -> Crew:
    """Give the crew that a caller asked for.

    Parameters
    ----------
    threads : int or None
        None takes the processors that this process may run on.
    progress : callable, optional

    Returns
    -------
    Crew

    Raises
    ------
    ValueError
        If `threads` is less than 1.
    """
    if threads is None:
        affinity = getattr(os, "sched_getaffinity", None)
        return Crew(len(affinity(0)) if affinity else os.cpu_count() or 1, progress)
    if threads < 1:
        raise ValueError("threads must be at least 1")
    return Crew(threads, progress)


def in_blocks(
    work: Callable[[int, int], Answer],
    total: int,
    size: int,
    crew: Crew,
) -> list[Answer]:
    """Answers of `work(start, end)` over blocks of `range(total)`, in order.

    An interrupt, or an error in a block, drops the blocks that have not begun and is raised as soon
    as those that have are done.

    Parameters
    ----------
    work : callable
    total, size : int
        Number of items, and of items in a block.
    crew : Crew

    Returns
    -------
    list
        One answer a block.
    """
    starts = range(0, total, size)
    if crew.threads == 1 or len(starts) == 1:
        return list(_one_by_one(work, total, size, crew.progress))
    pool = ThreadPoolExecutor(crew.threads)
    try:
        futures = [pool.submit(work, a, min(a + size, total)) for a in starts]
        _follow(futures, total, size, crew.progress)
        return [future.result() for future in futures]
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def side_by_side(tasks: Sequence[Callable[[], Answer]], crew: Crew, rows: int) -> list[Answer]:
    """Answers of tasks that do not depend on each other, in order.

    Parameters
    ----------
    tasks : sequence of callable
    crew : Crew
        Its progress is not told.
    rows : int
        Rows that each task goes through; few are not worth a thread.

    Returns
    -------
    list
    """
    threads = crew.threads if rows >= WORTH_A_THREAD else 1
    return in_blocks(lambda start, _: tasks[start](), len(tasks), 1, Crew(threads))


def _one_by_one(
    work: Callable[[int, int], Answer],
    total: int,
    size: int,
    progress: Callable[[int, int], None] | None,
) -> Iterator[Answer]:
    for start in range(0, total, size):
        end = min(start + size, total)
        yield work(start, end)
        if progress is not None:
            progress(end, total)


def _follow(
    futures: list[Future[Answer]],
    total: int,
    size: int,
    progress: Callable[[int, int], None] | None,
) -> None:
    for done, future in enumerate(as_completed(futures), 1):
        future.result()
        if progress is not None:
            progress(min(total, done * size), total)
