"""
How sure the plans of a replay are: a round counts as proven where every tier is.
"""

import json

from adapters.replay.measures.replay_measures import metrics_of
from models.trace import Floor


def measured(folder, *rounds):
    (folder / "jobs.csv").write_text("job\n")
    (folder / "queues.csv").write_text("t,queue,used,share,waiting\n")
    lines = [json.dumps({"status": status, "gap": gap}) for status, gap in rounds]
    (folder / "rounds.jsonl").write_text("".join(line + "\n" for line in lines))
    return metrics_of(folder, {}, {}, Floor(name="none", nodes=()))["rounds"]


def test_a_round_whose_tiers_are_only_conditional_is_not_proven(tmp_path):
    found = measured(tmp_path, ("optimal", 0), ("feasible", 0), ("feasible", 0.03))
    assert found == {"all": 0, "proven": 1, "worstGap": 0.03, "meanGap": 0.01}


def test_a_strategy_without_bounds_proves_nothing_and_has_no_gap(tmp_path):
    found = measured(tmp_path, ("feasible", None))
    assert found == {"all": 0, "proven": None, "worstGap": None, "meanGap": None}
