"""
The round in which changes are tried: in large clusters the next one, after this plan.
"""

from models.policy import Policy
from solver.round import decide
from solver.why.trial import trial_of
from tests.helpers.build import gang, nodes, snapshot


def test_in_the_next_round_nobody_else_grows_beside_who_is_tried_alone():
    grows = gang("g", minimum=1, replicas=3, gpus=8, running=["n0"])
    runs = gang("r", gpus=8, running=[f"n{at}" for at in range(1, 601)])
    waits = [gang(name, replicas=2, gpus=8) for name in ("a", "b")]
    case = snapshot(nodes(601), [grows, runs, *waits])
    plan = decide(case, Policy(), strategy="greedy")

    alone = trial_of(case, Policy(), plan, "default/a").alone

    wanted = {x.key: [pod.node for pod in x.tree.pods] for x in alone.gangs}
    assert {"default/g", "default/r", "default/a"} == set(wanted)
    assert ["n0"] == wanted["default/g"]
    assert [None, None] == wanted["default/a"]


def test_in_the_next_round_what_this_one_reserves_has_started():
    fill = gang("fill", gpus=8, running=[f"n{at}" for at in range(1, 601)])
    lower = gang("lower", gpus=8, running=["n0"])
    higher, last = gang("higher", gpus=8, priority=1), gang("last", gpus=8)
    case, policy = snapshot(nodes(601), [fill, lower, higher, last]), Policy()
    plan = decide(case, policy)
    trial = trial_of(case, policy, plan, "default/last")

    assert plan.states["default/higher"] == "Reserved"
    assert trial.before["default/higher"] == "Running"
