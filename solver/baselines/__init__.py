"""
Baselines as the field knows them: strategies that others can be compared with.
"""

from solver.baselines.backfilling import plan_conservatively as plan_conservatively
from solver.baselines.backfilling import plan_easy as plan_easy
from solver.baselines.in_line import plan_best_fit as plan_best_fit
from solver.baselines.in_line import plan_first_come as plan_first_come
