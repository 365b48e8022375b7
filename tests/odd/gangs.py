"""
What gangs can be like, each field an independent draw.
"""

from itertools import pairwise

from tests.odd.leaves import draw_leaf
from tests.odd.world import GPU, Part, World

POLICIES = (
    "only-waiting",
    "waiting-and-running",
    "waiting-running-succeed",
    "once-satisfied",
)
PRIORITIES = (0, 0, 0, 1, 10, 100, -5)


def add_gangs(world: World) -> None:
    """
    Add two to eight gangs, some of which form groups.
    """
    for at in range(world.number(2, 8)):
        world.gangs.append(_gang(world, f"g{at}"))
    if world.odd(2.0):
        _group(world)


def _gang(world: World, name: str) -> Part:
    runs = world.often(0.5)
    gang: Part = {"name": name}
    if world.odd(0.5):
        gang["namespace"] = "other"
    gang |= (
        _tree(world, runs=runs) if world.often(0.35) else draw_leaf(world, runs=runs)
    )
    _add_rank(world, gang)
    _add_history(world, gang)
    _add_words(world, gang)
    return gang


def _add_rank(world: World, gang: Part) -> None:
    """
    Say what its rank among others follows from.
    """
    leaves = [x["name"] for x in world.queues if x["name"].startswith("q")]
    if leaves:
        gang["queue"] = world.one(*leaves)
    if world.odd(0.2):
        gang["queue"] = world.one("d0", "nowhere", "default")
    priority = world.one(*PRIORITIES)
    if priority:
        gang["priority"] = priority
    if world.odd():
        gang["preemptible"] = False
    if world.odd(2.0):
        gang["age"] = world.duration()


def _add_history(world: World, gang: Part) -> None:
    """
    Say what has happened to it.
    """
    for word in ("evictedAgo", "passedOver", "staleSince", "heldFor", "heldFirst"):
        if world.odd():
            gang[word] = world.duration()
    if world.odd(0.5):
        gang["backoff"] = "30s"
    if world.odd(0.3):
        gang["timedOut"] = True
    if world.odd():
        gang["onceSatisfied"] = True


def _add_words(world: World, gang: Part) -> None:
    """
    Say what it asks of the scheduler.
    """
    if world.odd(2.0):
        gang["matchPolicy"] = world.one(*POLICIES)
    if world.odd(0.3):
        gang["mode"] = world.one("Strict", "NonStrict")
    if world.odd(0.3):
        gang["waitingTime"] = world.duration()
    if world.odd(0.3):
        gang["maxRuntime"] = world.duration()
    if world.odd(0.3):
        gang["runsLike"] = {"gpus": world.number(0, 12)}
    if world.odd(0.5):
        gang["staleAfter"] = world.one("-1s", "0s", "60s", "10m")
    if world.odd(0.5):
        gang["minResources"] = {GPU: world.number(1, 12)}
    if world.odd(0.2):
        gang["count"] = 2


def _tree(world: World, *, runs: bool) -> Part:
    """
    Draw a tree of one or two levels below the root.
    """
    children: list[Part] = []
    for at in range(world.number(1, 3)):
        if world.often(0.25):
            inner = _inner(world, [f"l{at}{j}" for j in range(2)], runs=runs)
            children.append({"name": f"x{at}", **inner})
        else:
            children.append({"name": f"l{at}", **draw_leaf(world, runs=runs)})
    _add_order(world, children)
    root: Part = {"groups": children}
    _add_minimums(world, root)
    return root


def _inner(world: World, names: list[str], *, runs: bool) -> Part:
    children = [{"name": name, **draw_leaf(world, runs=runs)} for name in names]
    _add_order(world, children)
    inner: Part = {"groups": children}
    _add_minimums(world, inner)
    return inner


def _add_order(world: World, children: list[Part]) -> None:
    """
    Let roles come after others.
    """
    leaves = [child for child in children if "groups" not in child]
    for first, later in pairwise(leaves):
        if world.odd(2.0):
            later["after"] = [first["name"]]


def _add_minimums(world: World, tree: Part) -> None:
    """
    Say how many groups or pods an inner node needs, and where they must be together.
    """
    children = tree["groups"]
    if world.often(0.35):
        tree["minGroups"] = world.number(0, len(children))
    if world.odd():
        tree["minPods"] = world.number(0, 4)
        for leaf in leaves_below(tree):
            leaf.setdefault("replicas", leaf.get("min", 1))
    if world.odd(1.5):
        tree["topology"] = draw_topology(world)


def draw_topology(world: World) -> Part:
    """
    Draw where pods must or should be together.
    """
    level = world.one("zone", "rack")
    return world.one(
        {"required": level},
        {"preferred": level},
        {"required": "zone", "preferred": "rack"},
    )


def leaves_below(tree: Part) -> list[Part]:
    """
    List the leaves of a tree as written.
    """
    if "groups" not in tree:
        return [tree]
    return [leaf for child in tree["groups"] for leaf in leaves_below(child)]


def _group(world: World) -> None:
    """
    Let two or three gangs hold one list; sometimes it is not the same for all.
    """
    gangs = [gang for gang in world.gangs if "count" not in gang]
    some = world.chance.sample(gangs, min(len(gangs), world.number(2, 3)))
    names = [f"{gang.get('namespace', 'default')}/{gang['name']}" for gang in some]
    if world.odd(0.3):
        names.append("default/missing")
    for gang in some:
        gang["group"] = names
    if some and world.odd(0.3):
        some[0]["group"] = names[:1]
