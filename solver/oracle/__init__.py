"""
The exact small model that checks hold the round against.

One integer per (leaf, node) and plain rows, solved tier by tier to proven optima. It
shares nothing with the encoding, is never part of a round, and is not meant to be fast.
"""

from solver.oracle.facts import Facts as Facts
from solver.oracle.facts import gather as gather
from solver.oracle.needs import UndecidedError as UndecidedError
from solver.oracle.search import best as best
from solver.oracle.search import check_feasible as check_feasible
from solver.oracle.steps import best_first_step as best_first_step
from solver.oracle.steps import best_later as best_later
from solver.oracle.steps import best_second_step as best_second_step
