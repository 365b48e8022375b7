"""
What the leaves of gangs can be like: how many pods, where they are, what they ask for.
"""

from tests.odd.world import GPU, TAINT, Part, World


def draw_leaf(world: World, *, runs: bool) -> Part:
    """
    Draw a leaf; ``runs`` says that its gang has pods on nodes.
    """
    leaf: Part = {}
    number = world.number(1, 4)
    if world.often(0.7):
        leaf["min"] = world.number(1, number)
    if "min" not in leaf or world.often(0.35):
        leaf["replicas"] = number
    if world.odd(0.3):
        leaf["min"] = 0
        leaf["replicas"] = number
    created = leaf.get("replicas", leaf.get("min"))
    if world.odd(0.5):
        created = world.number(0, created)
        leaf["created"] = created
    requests = _requests(world)
    if requests:
        leaf["requests"] = requests
    _add_phases(world, leaf, requests, created, runs=runs)
    _add_demands(world, leaf)
    return leaf


def _requests(world: World) -> Part:
    requests: Part = {}
    if not world.odd():
        requests[GPU] = world.one(1, 1, 2, 2, 3, 4, 4, 5, 8)
    if world.odd():
        requests["cpu"] = world.one(1, 4, 8)
    return requests


def _add_phases(
    world: World, leaf: Part, requests: Part, left: int, *, runs: bool
) -> None:
    """
    Say of some pods where they are; the rest is pending.
    """
    running = terminating = reserved = 0
    if runs and left:
        running = left if world.often(0.7) else world.number(0, left)
    elif world.odd(0.5) and left:
        running = world.number(0, left)
    left -= running
    if world.odd() and left:
        terminating = world.number(1, left)
    left -= terminating
    if world.odd() and left:
        reserved = world.number(1, left)
    left -= reserved
    for word, number in (
        ("running", running),
        ("terminating", terminating),
        ("reserved", reserved),
    ):
        places = [_place(world, requests, word) for _ in range(number)]
        places = [place for place in places if place]
        if places:
            leaf[word] = places
        left += number - len(places)
    for word in ("succeeded", "failed", "gated"):
        if world.odd(0.7) and left:
            leaf[word] = world.number(1, left)
            left -= leaf[word]


def _place(world: World, requests: Part, word: str) -> Part | None:
    """
    Put a pod on a node that has room for it, seldom on another one or one that is gone.
    """
    names = list(world.free)
    world.chance.shuffle(names)
    fitting = [name for name in names if _fits(world, name, requests)]
    node = fitting[0] if fitting else None
    if world.odd(0.3):
        node = world.one(*names, "gone")
    if node is None:
        return None
    if word != "reserved":
        for name, amount in requests.items():
            room = world.free.get(node, {})
            room[name] = room.get(name, 0) - amount
    place: Part = {"node": node}
    if word == "running" and world.often(0.6):
        place["for"] = world.duration()
    if word == "terminating" and world.often(0.5):
        place["since"] = world.one("0s", "30s", "5m")
    return place


def _fits(world: World, node: str, requests: Part) -> bool:
    room = world.free[node]
    return all(room.get(name, 0) >= amount for name, amount in requests.items())


def _add_demands(world: World, leaf: Part) -> None:
    """
    Say which nodes its pods may use, and with whom.
    """
    if world.odd():
        leaf["tolerations"] = [{"key": TAINT["key"], "operator": "Exists"}]
    if world.odd(0.5):
        leaf["nodeSelector"] = {"kind": world.one("a", "b")}
    if world.odd(0.3):
        rule = {"key": "rack", "operator": "In", "values": ["r0"]}
        leaf["affinity"] = {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [rule]}]
            }
        }
    if world.odd(0.3):
        leaf["volumes"] = [{"topology": {"zone": world.one("z0", "z1")}}]
    if world.odd(0.3):
        leaf["hostPorts"] = [world.one(80, {"port": 80, "address": "10.0.0.1"})]
    if world.odd():
        leaf["exclusive"] = True
    if world.odd(0.3):
        leaf["selectedBy"] = [world.one("x", "y")]
    if world.odd(0.3):
        keys = [world.one("zone", "rack", "kubernetes.io/hostname")]
        leaf["podAffinity"] = {"pods": world.one("x", "y"), "topologyKeys": keys}
    for word in ("podAntiAffinity", "topologySpread"):
        if world.odd(0.3):
            key = world.one("zone", "rack", "kubernetes.io/hostname")
            leaf[word] = [{"pods": world.one("x", "y"), "topologyKey": key}]
    if world.odd(0.3):
        leaf["claims"] = {world.one("large", "small"): world.number(1, 2)}
    if world.odd(0.3):
        leaf["sharedClaims"] = {world.one("c0", "c1"): world.one("large", "small")}
    if world.odd(0.3):
        leaf["preferredBy"] = [world.one("x", "y")]
    for word in ("preferredPodAffinity", "preferredPodAntiAffinity"):
        if world.odd(0.3):
            key = world.one("zone", "rack", "kubernetes.io/hostname")
            term = {"pods": world.one("x", "y"), "topologyKey": key}
            leaf[word] = [{**term, "weight": world.number(1, 100)}]
    if world.odd():
        leaf["topology"] = {
            world.one("required", "preferred"): world.one("zone", "rack")
        }
