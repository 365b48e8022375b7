"""
Gangs that wait, gangs that run, and the heads of a round.
"""

from dataclasses import replace

from models.policy import Policy, WaitingPolicy
from solver.hold.heads import heads_of
from solver.hold.held_nodes import with_heads
from solver.place.greedy import greedy
from solver.problem.problem import problem_of
from tests.helpers.build import (
    gang,
    snapshot,
)

HOUR = 3600

LATE = 2 * HOUR


def waiting(**fields):
    return Policy(waiting=WaitingPolicy(**fields))


def since(gang, seconds):
    """
    Let the pods that run or leave have done so for some seconds.
    """

    def aged(tree):
        if hasattr(tree, "children"):
            return replace(tree, children=tuple(aged(child) for child in tree.children))
        pods = (replace(p, seconds=seconds) if p.node else p for p in tree.pods)
        return replace(tree, pods=tuple(pods))

    return replace(gang, tree=aged(gang.tree))


def busy(name, *where, gpus=4, ran=0, **fields):
    """
    Build a gang of which one pod runs on each of some nodes.
    """
    return since(
        gang(name, minimum=len(where), gpus=gpus, running=where, **fields), ran
    )


def large(name="large", minimum=2, **fields):
    return gang(name, minimum=minimum, **({"gpus": 8, "passed_over": LATE} | fields))


def ask(hosts, *gangs, policy=None, queues=()):
    return problem_of(snapshot(hosts, gangs, queues), policy or Policy())


def only(problem):
    (head,) = heads_of(problem)
    return head


def keys(problem):
    return [head.key.removeprefix("default/") for head in heads_of(problem)]


def started(problem):
    draft = greedy(with_heads(problem, heads_of(problem)))
    return {key.removeprefix("default/") for key in draft.places}
