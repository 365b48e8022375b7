"""
Changes as values: what scripts read of each.
"""

import pytest

from adapters.files.change_documents import change_document
from models.changes import (
    AddedNodes,
    ClosedNode,
    EvictedGangs,
    GangLevel,
    GangPods,
    GangPriority,
    GangTolerates,
    MoreMoves,
    NewAmount,
    PassedTime,
    QueueRule,
)
from models.resources import GPU

G = "default/g"
MORE = NewAmount(by=2)
DOUBLED = NewAmount(value=4, by=2)


def of_queue(field, amount):
    return QueueRule(field=field, queue="q", resource=GPU, amount=amount)


CASES = {
    "a quota": (of_queue("quota", MORE), {"queue": "q", "resource": GPU, "by": 2}),
    "a limit": (of_queue("limit", MORE), {"queue": "q", "resource": GPU, "by": 2}),
    "a weight": (of_queue("weight", DOUBLED), {"queue": "q", "by": 2, "to": 4}),
    "no limit": (of_queue("limit", NewAmount()), {"queue": "q", "to": None}),
    "nodes": (AddedNodes(like="n", number=3), {"like": "n", "by": 3}),
    "open": (ClosedNode(node="n", how="open"), {"node": "n"}),
    "tolerate": (GangTolerates(gang=G, key="k"), {"key": "k"}),
    "level": (GangLevel(gang=G, level="rack", to=None), {"to": None}),
    "pods": (GangPods(gang=G, by=-1), {"by": -1}),
    "priority": (GangPriority(gang=G, priority=7), {"to": 7}),
    "evict": (EvictedGangs(gangs=(G,)), {"gangs": [G]}),
    "move": (MoreMoves(pods=4), {"pods": 4}),
    "wait": (PassedTime(seconds=60), {"until": 60, "seconds": 60}),
}


@pytest.mark.parametrize(("change", "said"), CASES.values(), ids=[*CASES])
def test_a_change_says_what_it_does_in_the_agreed_words(change, said):
    assert said.items() <= change_document(change).items()
