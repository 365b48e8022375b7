"""
The exact small model that checks hold the round against.

One integer per (leaf, node) and plain rows, solved tier by tier to proven optima. It
shares nothing with the encoding, is never part of a round, and is not meant to be fast.
"""

from exact.alone import starts_by_right as starts_by_right
from exact.alone import starts_now as starts_now
from exact.evictions.frozen import gone_stale as gone_stale
from exact.evictions.steps import best_first_step as best_first_step
from exact.evictions.steps import best_later as best_later
from exact.evictions.steps import best_second_step as best_second_step
from exact.evictions.steps import first_step_that_starts as first_step_that_starts
from exact.facts import Facts as Facts
from exact.facts import gather as gather
from exact.model import could_start as could_start
from exact.outcomes import best_round as best_round
from exact.outcomes import best_round_that_starts as best_round_that_starts
from exact.outcomes import first_worse as first_worse
from exact.outcomes import worse_in_a_step as worse_in_a_step
from exact.search import best as best
from exact.search import best_that_starts as best_that_starts
from exact.search import check_feasible as check_feasible
from exact.solved import UndecidedError as UndecidedError
