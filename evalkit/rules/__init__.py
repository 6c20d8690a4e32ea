"""Rules that a user writes about columns: read without running them, checked, and applied."""

from evalkit.rules.applying import Kept, apply_rule
from evalkit.rules.checking import checked_rule
from evalkit.rules.listing import Rule, rule_list
from evalkit.rules.parsing import parse_rule

__all__ = ["Kept", "Rule", "apply_rule", "checked_rule", "parse_rule", "rule_list"]
