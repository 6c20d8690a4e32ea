"""Many assessments from one list: each in a folder of its own, resumable, with a summary."""

from evalkit.batch.listing import Job, read_list
from evalkit.batch.running import Done, run_all
from evalkit.batch.summary import write_summary

__all__ = ["Done", "Job", "read_list", "run_all", "write_summary"]
