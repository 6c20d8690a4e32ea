"""Work in blocks on a plain pool of threads, which an interrupt stops at once."""

from __future__ import annotations

import os
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

Answer = TypeVar("Answer")


def thread_count(threads: int | None) -> int:
    """Give the number of threads to use.

    Parameters
    ----------
    threads : int or None
        None takes the processors that this process may run on.

    Returns
    -------
    int
        At least 1.

    Raises
    ------
    ValueError
        If `threads` is less than 1.
    """
    if threads is None:
        affinity = getattr(os, "sched_getaffinity", None)
        return len(affinity(0)) if affinity else os.cpu_count() or 1
    if threads < 1:
        raise ValueError("threads must be at least 1")
    return threads


def in_blocks(
    work: Callable[[int, int], Answer],
    total: int,
    size: int,
    *,
    threads: int,
    progress: Callable[[int, int], None] | None = None,
) -> list[Answer]:
    """Answers of `work(start, end)` over blocks of `range(total)`, in order.

    An interrupt, or an error in a block, drops the blocks that have not begun and is raised as soon
    as those that have are done.

    Parameters
    ----------
    work : callable
    total, size : int
        Number of items, and of items in a block.
    threads : int
    progress : callable, optional
        Called from this thread with the items done and the total.

    Returns
    -------
    list
        One answer a block.
    """
    starts = range(0, total, size)
    if threads == 1 or len(starts) == 1:
        return list(_one_by_one(work, total, size, progress))
    pool = ThreadPoolExecutor(threads)
    try:
        futures = [pool.submit(work, a, min(a + size, total)) for a in starts]
        _follow(futures, total, size, progress)
        return [future.result() for future in futures]
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


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
    pending = set(futures)
    while pending:
        done, pending = wait(pending, return_when=FIRST_COMPLETED)
        for future in done:
            future.result()
        if progress is not None:
            progress(min(total, (len(futures) - len(pending)) * size), total)
