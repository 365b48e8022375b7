"""
Odd but legal rounds, drawn from a seed and written as files write them.
"""

from random import Random

from adapters.files import scenario_of
from models.documents.scenario import Scenario
from models.errors import InputRejectedError
from tests.odd.beside import add_beside
from tests.odd.clusters import add_budgets, add_nodes, add_queues
from tests.odd.full import full_round
from tests.odd.gangs import add_gangs
from tests.odd.middle import middle_round
from tests.odd.parts import add_parts
from tests.odd.policies import draw_policy
from tests.odd.rare import add_rare
from tests.odd.tied import add_tied
from tests.odd.timed import add_times
from tests.odd.world import Part, World

ODDNESS = (0.02, 0.05, 0.1, 0.2)
_MOST_DRAWS = 100
PARTS = "parts"
"""
Where the first word of the seed says so, some ask for parts of GPUs.  It may say more
than one of these, as in ``parts+beside-7``.
"""
STALE = "stale"
"""
Where it says so, most of those that run have been stale for long.
"""
LENT = "lent"
"""
Where it says so, nodes are held for those who wait, and most that run are lent them or
were.
"""
FULL = "full"
"""
Where it says so, the cluster is full, and mostly somebody may leave for who waits.
"""
BESIDE = "beside"
"""
Where it says so, many look at who is around them, or share free volumes.
"""
TIMED = "timed"
"""
Where it says so, much is known of time: ages, run times, what was held, and for whom.
"""
TIED = "tied"
"""
Where it says so, most that run have pieces of their nodes in common.
"""
RARE = "rare"
"""
Where it says so, many ask for what is seldom asked for.
"""
MIDDLE = "middle"
"""
Where it says so, the cluster has up to 48 nodes and 220 gangs.
"""
DRAWS = {FULL: full_round, MIDDLE: middle_round}
_MOST_STALE = 0.7
_MOST_LENT = 0.7
_OTHERS = ("preempt", "reclaim", "consolidate")
_TIMES = ("1h", "100d")


def odd_round(seed: object) -> Part:
    """
    Draw a round that lint takes; the same one for the same seed.
    """
    kinds = str(seed).split("-")[0].split("+")
    for again in range(_MOST_DRAWS):
        chance = Random(f"odd-round-{seed}-{again}")
        draw = (
            full_round if FULL in kinds else middle_round if MIDDLE in kinds else _draw
        )
        document = draw(chance)
        if PARTS in kinds:
            add_parts(Random(f"odd-parts-{seed}-{again}"), document["given"])
        if TIED in kinds:
            add_tied(Random(f"odd-tied-{seed}-{again}"), document["given"])
        if STALE in kinds:
            _let_go_stale(Random(f"odd-stale-{seed}-{again}"), document["given"])
        if LENT in kinds:
            _lend(Random(f"odd-lent-{seed}-{again}"), document)
        if TIMED in kinds:
            add_times(Random(f"odd-timed-{seed}-{again}"), document)
        if BESIDE in kinds:
            add_beside(Random(f"odd-beside-{seed}-{again}"), document)
        if RARE in kinds:
            add_rare(Random(f"odd-rare-{seed}-{again}"), document["given"])
        if read(document) is not None:
            return document
    raise AssertionError(f"no legal round for seed {seed}")


def read(document: Part) -> Scenario | None:
    """
    Read a round as a file would be; none where lint does not take it.
    """
    try:
        return scenario_of("odd", document)
    except InputRejectedError:
        return None


def _draw(chance: Random) -> Part:
    world = World(chance, chance.choice(ODDNESS))
    add_nodes(world)
    add_queues(world)
    add_gangs(world)
    add_budgets(world)
    given: Part = {
        "nodes": world.nodes,
        "topologies": [{"name": "t", "levels": ["zone", "rack"]}],
        "gangs": world.gangs,
    }
    if world.queues:
        given["queues"] = world.queues
    if world.budgets:
        given["budgets"] = world.budgets
    if world.odd():
        given["unchangedFor"] = world.duration()
    document: Part = {"apiVersion": "phalanx/v1", "kind": "Scenario", "given": given}
    policy = draw_policy(world)
    if policy:
        document["policy"] = policy
    return document


def _lend(chance: Random, document: Part) -> None:
    """
    Let gangs wait for days, and most that run be lent what is held for them.

    Often nobody leaves by another rule.
    """
    gangs = document["given"]["gangs"]
    names = [f"{gang.get('namespace', 'default')}/{gang['name']}" for gang in gangs]
    for gang in gangs:
        if "running" not in str(gang):
            if chance.random() < _MOST_LENT:
                gang["passedOver"] = "2d"
            else:
                gang.pop("passedOver", None)
        elif chance.random() < _MOST_LENT:
            gang["lentBy"] = names
            for word in ("preemptible", "evictedAgo", "group"):
                gang.pop(word, None)
        else:
            gang["maxRuntime"] = "1h"
    policy = document.setdefault("policy", {})
    if chance.random() < _MOST_LENT:
        document["given"].pop("budgets", None)
        document["given"].pop("unchangedFor", None)
        policy = document["policy"] = {"evict": dict.fromkeys(_OTHERS, False)}
    policy["evict"] = {**policy.get("evict", {}), "lentFor": chance.choice(_TIMES)}
    policy["waiting"] = {"outweigh": 0, "heads": chance.choice((1, 2))}


def _let_go_stale(chance: Random, given: Part) -> None:
    """
    Let most gangs that run say that they have run below their minimum for an hour.
    """
    for gang in given["gangs"]:
        if "running" in str(gang) and chance.random() < _MOST_STALE:
            gang["staleSince"] = "1h"
