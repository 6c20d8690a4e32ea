"""Rules that a user writes about columns: read without running them, checked, and applied."""

from evalkit.rules.applying import Kept, KeptRows, apply_rule, kept_of, merged_kept
from evalkit.rules.checking import checked_rule
from evalkit.rules.listing import Rule, rule_list
from evalkit.rules.parsing import parse_rule

__all__ = [
    "Kept",
    "KeptRows",
    "Rule",
    "apply_rule",
    "checked_rule",
    "kept_of",
    "merged_kept",
    "parse_rule",
    "rule_list",
]
