"""Notebooks run strictly: parameters in, an executed notebook and its report out."""

from evalkit.running.plain_values import PATHS
from evalkit.running.runner import NotebookError, run

__all__ = ["PATHS", "NotebookError", "run"]
