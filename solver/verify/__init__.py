"""
The judge of finished plans: knows every rule, and nothing of how plans are made.
"""

from solver.verify.judge import RULES as RULES
from solver.verify.judge import verify as verify
from solver.verify.violation import Violation as Violation
