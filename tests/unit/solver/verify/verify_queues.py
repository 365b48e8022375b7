"""
Broken plans: what queues allow, and what a plan says of gangs.
"""

from dataclasses import replace

from models.plan import Hold
from models.policy import Policy
from models.queues import QueueResource
from models.resources import GPU
from tests.helpers.build import (
    bind,
    gang,
    line,
    nodes,
    plan,
    queue,
    snapshot,
    tier,
)
from tests.unit.solver.verify.verify_cases import POLICY, broken


def queues():
    one = [gang("a", queue="q", gpus=4), gang("b", queue="q", gpus=2)]
    other = [gang("a", queue="q"), gang("b", queue="p")]
    here, there = plan(bind("a-0")), plan(bind("b-0"))
    p = queue("p")
    yield broken("queue-missing", snapshot(nodes(1), other, [p]), here, there)
    yield broken(
        "queue-missing",
        snapshot(nodes(1), other, [queue("q", "top"), p]),
        here,
        there,
        "the parent",
    )
    yield broken(
        "queue-closed",
        snapshot(nodes(1), other, [queue("q", open=False), p]),
        here,
        there,
    )
    yield broken(
        "queue-closed",
        snapshot(nodes(1), other, [queue("q", "top"), queue("top", open=False), p]),
        here,
        there,
        "the parent",
    )
    yield broken(
        "queue-inner",
        snapshot(nodes(1), other, [queue("q"), queue("p", "q")]),
        here,
        there,
    )
    yield broken(
        "queue-limit",
        snapshot(nodes(1), one, [queue("q", limit=5)]),
        plan(bind("a-0"), bind("b-0")),
        here,
    )
    busy = [*one, gang("c", queue="p", gpus=3, running=["n1"])]
    top = queue("top", limit=6)
    yield broken(
        "queue-limit",
        snapshot(nodes(2), busy, [queue("q", "top"), queue("p", "top"), top]),
        here,
        there,
        "on the path, with what runs",
    )
    keeps = queue("p", resources={GPU: QueueResource(quota=6, lend=2)})
    yield broken(
        "lending-limit",
        snapshot(nodes(1), one, [queue("q"), keeps]),
        plan(bind("a-0"), bind("b-0")),
        here,
    )
    keepers = [
        queue(name, resources={GPU: QueueResource(quota=quota, lend=0)})
        for name, quota in (("q", 6), ("p", 2))
    ]
    late = [gang(name, queue="q", gpus=gpus) for name, gpus in (("a", 2), ("b", 3))]
    yield broken(
        "lending-limit",
        snapshot(
            nodes(2, 4),
            [*late, gang("c", queue="r", gpus=4, running=["n1"])],
            [*keepers, queue("r")],
        ),
        plan(bind("b-0")),
        here,
        "within what its queue keeps, while others use what another keeps",
    )
    hard = [replace(made, preemptible=False) for made in one]
    yield broken(
        "queue-quota",
        snapshot(nodes(1), hard, [queue("q", quota=5)]),
        plan(bind("a-0"), bind("b-0")),
        here,
    )
    yield broken(
        "queue-quota",
        snapshot(nodes(1), hard, [queue("q", resources={}), queue("p", quota=8)]),
        here,
        plan(),
        "none where another queue names the resource",
    )
    fair = [queue("q", quota=4), queue("p", quota=4)]
    rivals = [
        gang("a", queue="q", gpus=5),
        gang("b", queue="q", gpus=4),
        gang("c", queue="p", minimum=2, gpus=4),
    ]
    yield broken(
        "entitled",
        snapshot(nodes(1), rivals, fair),
        plan(bind("a-0"), entitled=["a"]),
        plan(bind("a-0")),
    )
    yield broken(
        "entitled",
        snapshot(nodes(2, 5), rivals, fair),
        plan(bind("a-0"), bind("b-0", "n1"), entitled=["a", "b"]),
        plan(bind("a-0"), bind("b-0", "n1"), entitled=["b"]),
        "two together",
    )
    both = [
        gang("a", queue="q", gpus=4, mates=["a", "c"]),
        gang("c", queue="p", gpus=4, mates=["a", "c"]),
    ]
    steps = (bind("a-0"), bind("c-0"))
    yield broken(
        "entitled-group",
        snapshot(nodes(1), both, fair),
        plan(*steps, entitled=["a"]),
        plan(*steps, entitled=["a", "c"]),
    )


def claims():
    one = snapshot(nodes(1), [gang("a")])
    step = bind("a-0")
    yield broken(
        "tier-bound",
        one,
        plan(step, tiers=[tier("gpus", 5, 4)]),
        plan(step, tiers=[tier("gpus", 4, 5)]),
    )
    yield broken(
        "tier-bound",
        one,
        plan(step, tiers=[tier("topology", 4, 5, direction="min")]),
        plan(step, tiers=[tier("topology", 5, 4, direction="min")]),
        "of a tier to be small",
    )
    yield broken(
        "tier-proof",
        one,
        plan(step, tiers=[tier("gpus", 4, 5, proof="proven")]),
        plan(step, tiers=[tier("gpus", 5, 5)]),
    )
    yield broken(
        "tier-proof",
        one,
        plan(step, tiers=[tier("gpus", 4, 5), tier("pods", 3)]),
        plan(step, tiers=[tier("gpus", 4, 5), tier("pods", 3, proof="conditional")]),
        "after one that is not",
    )
    yield broken(
        "plan-status",
        one,
        plan(step, tiers=[tier("gpus", 4, 5)], status="optimal"),
        plan(step, tiers=[tier("gpus", 5)], status="optimal"),
    )
    yield broken("plan-status", one, plan(step, status="idle"), plan(), "idle")
    lines = {
        "number of binds": [line("a", "Starting", 2)],
        "Starting without a bind": [line("a", "Starting", 1), line("b", "Starting")],
        "Waiting with a bind": [line("a", "Waiting", 1)],
        "listed twice": [line("a", "Starting", 1), line("a", "Starting", 1)],
        "no such gang": [line("a", "Starting", 1), line("c")],
    }
    idle = snapshot(nodes(2), [gang("a"), gang("r", running=["n0"])])
    for label, held in {"less than none": -1, "more than idle": 16}.items():
        yield broken(
            "held-claim",
            idle,
            replace(plan(), held=held),
            replace(plan(), held=15),
            label,
        )
    yield broken(
        "held-claim",
        replace(idle, held=8 * 3600),
        replace(plan(), held=1),
        plan(),
        "after the budget",
    )
    yield broken(
        "held-claim",
        idle,
        replace(plan(), held=1),
        plan(),
        "without heads",
        policy=Policy.model_validate({"waiting": {"heads": 0}}),
        allowing=POLICY,
    )
    hold = Hold(gang="default/a", nodes=("n0",), expected=3600)
    held = snapshot(nodes(2), [gang("a", held_for=3601, held_first=3600)])
    yield broken("hold-claim", held, replace(plan(), holds=(hold,)), plan(), "too long")
    yield broken(
        "hold-claim",
        idle,
        replace(plan(), holds=(replace(hold, gang="default/c"),)),
        replace(plan(), holds=(hold,)),
        "no such gang",
    )
    lent = replace(hold, lent=("default/b",))
    guest = snapshot(nodes(2), [gang("a"), gang("b")])
    yield broken(
        "hold-claim",
        guest,
        replace(plan(bind("b-0", "n1")), holds=(lent,)),
        replace(plan(bind("b-0", "n0")), holds=(lent,)),
        "lent to who starts elsewhere",
        policy=Policy.model_validate({"evict": {"lentFor": "1h"}}),
    )
    yield broken(
        "hold-claim",
        guest,
        replace(plan(bind("b-0", "n0")), holds=(lent,)),
        replace(plan(bind("b-0", "n0")), holds=(lent,)),
        "lent for too long",
        policy=Policy.model_validate({"evict": {"lentFor": "59m"}}),
        allowing=Policy.model_validate({"evict": {"lentFor": "1h"}}),
    )
    for label, said in lines.items():
        yield broken(
            "gang-line",
            snapshot(nodes(1), [gang("a"), gang("b")]),
            plan(step, lines=said),
            plan(step, lines=[line("a", "Starting", 1), line("b")]),
            label,
        )


QUEUES = [*queues(), *claims()]
