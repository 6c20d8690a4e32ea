"""What the exploration notebooks call: objects that display themselves, live where they can.

Everything shown here is made of counts, shares and scores. The one exception, the records at risk,
is for the controller's eyes only and can be saved by no notebook: see `records_at_risk`.
"""

from __future__ import annotations

from evalkit.explore.candidates import Candidates, candidate_sets
from evalkit.explore.comparisons import comparison
from evalkit.explore.linkability import LinkabilityBench, linkability
from evalkit.explore.records import RecordsAtRisk, records_at_risk
from evalkit.explore.tables import open_tables
from evalkit.explore.utility import UtilityBench, groups, utility

__all__ = [
    "Candidates",
    "LinkabilityBench",
    "RecordsAtRisk",
    "UtilityBench",
    "candidate_sets",
    "comparison",
    "groups",
    "linkability",
    "open_tables",
    "records_at_risk",
    "utility",
]
