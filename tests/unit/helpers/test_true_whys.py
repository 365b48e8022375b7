from dataclasses import replace

from models.neighbours import Apart, Neighbours
from models.nodes import HOSTNAME
from models.policy import Policy
from solver import decide, why_waits
from tests.helpers.build import gang, leaf, node, snapshot
from tests.helpers.truth.true_whys import TrueWhy

APART = (Apart("web", HOSTNAME),)
"""
Pods that are on no host with a web pod.
"""


def test_who_runs_makes_no_pods_that_wait_alone_on_their_host():
    web = Neighbours(selected=("web",), apart=APART)
    runs = leaf("runs", minimum=1, running=["n0"], neighbours=web)
    waits = leaf("waits", minimum=1, neighbours=Neighbours(apart=APART))
    case, policy = snapshot([node("n0")], [gang("a", runs, waits)]), Policy()
    plan = decide(case, policy)
    why = why_waits(case, policy, plan, "default/a")
    truth = TrueWhy(case, policy, plan)

    assert [] == truth.problems(why)
    assert truth.problems(replace(why, because=why.because[1:]))
