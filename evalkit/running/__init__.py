"""Notebooks run strictly: parameters in, an executed notebook and its report out."""

from evalkit.running.runner import PATHS, NotebookError, run

__all__ = ["PATHS", "NotebookError", "run"]
