"""
What policies can be like, each field an independent draw.
"""

from tests.odd.world import Part, World

BASE = ["entitled", "disruption", "borrowing", "topology", "surplus", "packing"]
LATE = {"name": "late", "after": "1h"}


def draw_policy(world: World) -> Part:
    """
    Draw a policy; where nothing is odd it is the default.
    """
    policy: Part = {}
    if world.odd(2.0):
        policy["tiers"] = _tiers(world)
    evict = _evict(world)
    if evict:
        policy["evict"] = evict
    if world.odd():
        policy["bands"] = world.one([], [1], [10], [0, 50])
    waiting = _waiting(world)
    if waiting:
        policy["waiting"] = waiting
    if world.odd():
        policy["shares"] = {"halfLife": world.one("1m", "7d")}
    if world.odd():
        policy["seed"] = world.number(0, 5)
    return policy


def _tiers(world: World) -> list:
    """
    Draw an order of tiers that may be listed.
    """
    kind = world.one("default", "cut", "cut", "other", "shuffled")
    tiers = list(BASE)
    if kind == "cut":
        tiers = [name for name in tiers if world.often(0.7)]
    elif kind == "other":
        tiers = world.chance.sample(["gpus", "pods", "gangs", "surplus"], 2)
    elif kind == "shuffled":
        world.chance.shuffle(tiers)
    if "borrowing" in tiers and "entitled" not in tiers[: tiers.index("borrowing")]:
        tiers.remove("borrowing")
    if world.often(0.3):
        tiers.insert(world.number(0, len(tiers)), LATE)
    if world.often(0.2):
        tiers.append(
            world.one("gpus", "pods", "gangs", "neighbours", "expected-fragments")
        )
    return [x for at, x in enumerate(tiers) if x not in tiers[:at]]


def _evict(world: World) -> Part:
    evict: Part = {}
    for word in ("preempt", "reclaim", "consolidate", "stale"):
        if world.odd():
            evict[word] = False
    if world.odd(0.5):
        evict["staleAfter"] = world.one("0s", "10m")
    if world.odd():
        evict["maxPods"] = world.number(0, 4)
    if world.odd():
        evict["maxGangs"] = world.number(0, 2)
    if world.odd():
        evict["maxMoves"] = world.number(0, 3)
    if world.odd():
        evict["maxLostPerGpu"] = world.one(0, 60, 3600)
    if world.odd():
        evict["again"] = world.one("1m", "1h")
    return evict


def _waiting(world: World) -> Part:
    waiting: Part = {}
    if world.odd():
        waiting["protectAfter"] = world.one("0s", "10m", "1d")
    if world.odd():
        waiting["heads"] = world.number(0, 2)
    if world.odd(0.5):
        waiting["headsOf"] = "cluster"
    if world.odd(0.5):
        waiting["firm"] = world.number(0, 2)
    if world.odd(0.3):
        waiting["firmAfter"] = world.one("10m", "1d")
    if world.odd(0.3):
        waiting["gpus"] = 4
    if world.odd(0.5):
        waiting["idle"] = "hold"
    return waiting
