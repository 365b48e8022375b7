"""
A node whose GPUs may be cut, pods that hold devices of it by claim, and one that waits.
"""

from itertools import combinations
from random import Random

from models.policy import Policy
from solver.round import decide
from tests.helpers.kube.manifests import assembled, node, pod
from tests.helpers.rounds.devices import (
    GPU_CLASS,
    MIG_CLASS,
    asks,
    claim,
    claiming,
    classes,
    cut_gpus,
    profile,
)

SLICES = {"1g.10gb": range(7), "2g.20gb": (0, 2, 4), "3g.40gb": (0, 4)}
SIZES = {"1g.10gb": 1, "2g.20gb": 2, "3g.40gb": 4}
GPUS = 2
LOW, HIGH = 0, 100


class ClaimHolders:
    """
    Some holders, a few of which share a claim, or stay since they matter more.
    """

    def __init__(self, seed):
        self.chance = Random(f"claim-holders-{seed}")
        self.holders = {}
        for at in range(GPUS):
            self._fill(at)
        names = sorted(self.holders)
        self.sharers = {}
        if names and self.chance.random() < 0.5:
            self.sharers["s"] = self.chance.choice(names)
        self.stay = {x for x in (*names, *self.sharers) if self.chance.random() < 0.15}
        words = (*SLICES, *[None] * 4)
        kind = self.chance.choice(words)
        count = self.chance.randint(1, GPUS)
        self.wanted = _asked(kind, count)

    def _fill(self, at):
        if self.chance.random() < 0.2:
            self.holders[f"g{at}"] = (f"gpu-{at}", _asked(None))
            return
        taken = set()
        for _ in range(self.chance.randint(0, 3)):
            word = self.chance.choice(sorted(SLICES))
            start = self.chance.choice(list(SLICES[word]))
            mine = set(range(start, start + SIZES[word]))
            if taken.isdisjoint(mine):
                taken |= mine
                device = f"gpu-{at}-mig-{word.replace('.', '-')}-{start}"
                self.holders[f"h{at}-{start}"] = (device, _asked(word))

    def snapshot(self, gone=()):
        """
        What is there once some have left.
        """
        raws = []
        for name, (device, request) in self.holders.items():
            users = [name, *(x for x, of in self.sharers.items() if of == name)]
            users = [user for user in users if user not in gone]
            if users:
                raws.append(_held(claim(name, request), device, users))
                raws += [self._pod(user, name) for user in users]
        waiting = pod("w", gpus=0, priority=HIGH - 1, **claiming("w"))
        waiting["metadata"]["uid"] = "w"
        raws += [claim("w", self.wanted), waiting]
        there = [*classes(), *cut_gpus("n", GPUS), *raws]
        return assembled(node("n", gpus=0), *there).snapshot

    def _pod(self, name, of):
        matters = HIGH if name in self.stay else LOW
        made = pod(name, gpus=0, priority=matters, nodeName="n", **claiming(of))
        made["metadata"]["uid"] = name
        made["status"] = {"phase": "Running"}
        return made

    def starts_without(self, gone):
        """
        Tell whether the one that waits starts once some have left.
        """
        plan = decide(self.snapshot(gone), Policy(tiers=("borrowing",)))
        return any(step.op == "Bind" for step in plan.operations)

    def least(self):
        """
        Give the fewest of which all may leave so that it starts; none if it never does.

        Who shares a claim holds nothing alone, so not all of them may be preempted.
        """
        shared = {*self.sharers, *self.sharers.values()}
        may = sorted(self.holders.keys() - self.stay - shared)
        for number in range(len(may) + 1):
            if any(map(self.starts_without, combinations(may, number))):
                return number
        return None


def _asked(word, count=1):
    if word is None:
        return asks("g", GPU_CLASS, count)
    return asks("g", MIG_CLASS, count, profile(word))


def _held(raw, device, users):
    result = {"driver": "gpu.nvidia.com", "pool": "n", "request": "g", "device": device}
    raw["status"] = {
        "allocation": {"devices": {"results": [result]}},
        "reservedFor": [{"resource": "pods", "name": x, "uid": x} for x in users],
    }
    return raw
