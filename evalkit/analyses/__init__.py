"""The user's own analyses, fitted on originals, avatars and holdout, and compared."""

from evalkit.analyses.comparing import compare_analysis
from evalkit.analyses.listing import Analysis, analysis_list, check_packages

__all__ = ["Analysis", "analysis_list", "check_packages", "compare_analysis"]
