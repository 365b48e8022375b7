"""
A large gang behind a stream of small ones, round after round.
"""

from dataclasses import dataclass, field, replace

import pytest

from models.gangs import pod_sets
from models.policy import Policy
from solver.hold.heads import heads_of
from solver.hold.held_nodes import with_heads
from solver.place.draft import Draft
from solver.place.greedy import greedy
from solver.round import budget_of
from solver.search.round_steps import search
from tests.helpers.build import (
    gang,
    nodes,
)
from tests.helpers.rounds.heads import HOUR, ask, since, waiting

AT_ONCE = {"budget": 1, "outweigh": 0}
"""
A policy that asks neither what a turn costs others nor what idles for it.
"""

STEP = 1800

STAYS = 3


def by_search(problem):
    return search(problem, budget_of(problem.policy)).draft


@dataclass
class World:
    """
    A cluster that never empties: small gangs arrive in every round and run for three.
    """

    plan: object
    policy: Policy
    known: bool = False
    time: int = 0
    waiting: dict[str, object] = field(default_factory=dict)
    running: dict[str, tuple[object, tuple[str, ...], int]] = field(
        default_factory=dict
    )

    def arrive(self):
        for i, gpus in enumerate([1, 2, 1, 4, 1, 2, 3, 1, 2, 4, 1, 2, 2, 1, 3, 6, 2]):
            name = f"small-{self.time:02}-{i:02}"
            end = STAYS * STEP if self.known else None
            self.waiting[name] = gang(name, gpus=gpus, max_runtime=end)

    def step(self):
        """
        Let a round pass; say who started.
        """
        self.time += 1
        self.running = {
            name: entry
            for name, entry in self.running.items()
            if self.time - entry[2] < STAYS
        }
        self.arrive()
        runs = [
            since(
                replace(g, tree=gang(name, gpus=gpus_of(g), running=where).tree),
                (self.time - begun) * STEP,
            )
            for name, (g, where, begun) in self.running.items()
        ]
        problem = ask(nodes(10), *self.waiting.values(), *runs, policy=self.policy)
        draft: Draft = self.plan(with_heads(problem, heads_of(problem)))
        done = [key.removeprefix("default/") for key in draft.places]
        for name in done:
            hosts = draft.places[f"default/{name}"][0]
            where = tuple(problem.room.nodes[host].name for host in hosts)
            self.running[name] = (self.waiting.pop(name), where, self.time)
        self.waiting = {
            name: replace(g, age=g.age + STEP, passed_over=g.passed_over + STEP)
            for name, g in self.waiting.items()
        }
        return done


def gpus_of(gang):
    (part,) = pod_sets(gang.tree)
    return part.requests["nvidia.com/gpu"]


def first_start(plan, policy, *, rounds, known=False):
    """
    Let 64 GPUs be asked for from the third round on; say in which they start.
    """
    world = World(plan, policy, known)
    for at in range(1, rounds + 1):
        if at == 3:
            world.waiting["a-large"] = gang("a-large", minimum=8, gpus=8)
        if "a-large" in world.step():
            return at
    return None


@pytest.mark.parametrize("known", [False, True])
def test_64_gpus_starve_behind_small_gangs_where_there_are_no_heads(known):
    assert first_start(greedy, waiting(heads=0), rounds=20, known=known) is None


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("plan", [greedy, by_search])
def test_64_gpus_start_once_they_were_passed_over_for_long(plan, known):
    passed_over = -(-HOUR // STEP)
    most = 3 + passed_over + STAYS

    at = first_start(plan, waiting(**AT_ONCE), rounds=most, known=known)

    assert at is not None
