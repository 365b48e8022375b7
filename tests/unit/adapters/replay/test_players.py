"""
What tells the strategies of a replay apart.
"""

from models.policy import Policy
from tests.helpers.played import job, played, run

LINE = [
    job("runs", gpus=8, duration=3000),
    job("wide", submit=1, pods=2, duration=600),
    job("short", submit=2, gpus=8, duration=600),
    job("long", submit=3, gpus=8, duration=6000),
]


def starts(folder, strategy, **said):
    found = played(folder, run(LINE, strategy=strategy, **said))
    return {name: int(row["start"]) for name, row in found.items()}


def test_fifo_lets_nobody_pass(tmp_path):
    found = starts(tmp_path, "fifo")

    assert {"runs": 0, "wide": 3000, "short": 3600, "long": 3600} == found


def test_easy_lets_pass_who_ends_before_the_first_could_start(tmp_path):
    found = starts(tmp_path, "easy", estimates=1.0)

    assert {"runs": 0, "short": 300, "wide": 3000, "long": 3600} == found


def test_best_fit_lets_anybody_pass(tmp_path):
    found = starts(tmp_path, "best-fit")

    assert {"runs": 0, "short": 300, "long": 900, "wide": 6900} == found


def test_greedy_holds_nodes_for_who_was_passed_over_for_an_hour(tmp_path):
    many = [
        job("wide", submit=1, pods=2),
        *(job(f"s-{at:02d}", submit=300 * at, duration=900) for at in range(60)),
    ]
    policy = Policy.model_validate({"waiting": {"budget": 1, "outweigh": 0}})
    greedy = played(tmp_path / "greedy", run(many, policy=policy))
    best = played(tmp_path / "best", run(many, strategy="best-fit"))

    assert int(greedy["wide"]["wait"]) < 6000
    assert int(best["wide"]["wait"]) > 12_000
