"""
What nodes and queues can be like, each field an independent draw.
"""

from tests.odd.world import GPU, TAINT, Part, World


def add_nodes(world: World) -> None:
    """
    Add two to five nodes, some drained, tainted, loaded, or without anything.
    """
    small = world.odd(2.0)
    for at in range(world.number(2, 5)):
        node = _node(world, f"n{at}", small=small)
        world.nodes.append(node)
        used = node.get("used", {})
        world.free[node["name"]] = {
            name: amount - used.get(name, 0)
            for name, amount in node["allocatable"].items()
        }


def _node(world: World, name: str, *, small: bool) -> Part:
    gpus = world.one(2, 4) if small else world.one(4, 8, 8, 8)
    node: Part = {"name": name, "allocatable": {GPU: gpus}}
    if world.odd():
        node["allocatable"] = {}
    if world.odd(2.0):
        node["gpuModel"] = world.one("a", "b")
    if world.odd(2.0):
        node["allocatable"]["cpu"] = world.one(4, 16)
    if world.odd(0.5):
        node["allocatable"]["pods"] = world.number(0, 3)
    labels = {}
    if not world.odd():
        labels["zone"] = world.one("z0", "z0", "z1")
    if not world.odd():
        labels["rack"] = world.one("r0", "r1")
    if world.odd():
        labels["kind"] = world.one("a", "b")
    if labels:
        node["labels"] = labels
    if world.odd(1.5):
        node["unschedulable"] = True
    if world.odd():
        effects = ("NoSchedule", "NoExecute", "PreferNoSchedule")
        node["taints"] = [{**TAINT, "effect": world.one(*effects)}]
    if world.odd():
        node["used"] = {GPU: world.number(1, 4)}
    if world.odd(0.6):
        reached = {"name": world.one("u", "v"), "for": ["large", "small"]}
        node["freeVolumes"] = [{**reached, "count": world.number(1, 2)}]
    return node


def add_queues(world: World) -> None:
    """
    Add no queues, or up to four, some below a department, some closed.
    """
    if world.often(0.25):
        return
    parents: list[Part] = []
    if world.often(0.3):
        parents = [_queue(world, "d0"), _queue(world, "d1")]
    leaves = [_queue(world, f"q{at}") for at in range(world.number(1, 3))]
    for queue in leaves:
        if parents:
            queue["parent"] = world.one("d0", "d0", "d1")
        if world.odd(0.2):
            queue["parent"] = "missing"
    world.queues = [*leaves, *parents]


def _queue(world: World, name: str) -> Part:
    queue: Part = {"name": name}
    if world.odd():
        queue["priority"] = world.one(0, 131)
    if world.odd(0.5):
        queue["state"] = "Closed"
    resources = {}
    if world.often(0.8):
        resources[GPU] = _rule(world)
        if world.odd():
            resources[GPU]["models"] = {world.one("a", "b"): _rule(world)}
    if world.odd(0.5):
        resources["cpu"] = _rule(world)
    if resources:
        queue["resources"] = resources
    if world.odd():
        queue["minRuntime"] = {
            rule: world.duration()
            for rule in ("preempt", "reclaim")
            if world.often(0.7)
        }
    if world.odd():
        queue["usage"] = {GPU: world.one(0, 0.000001, 7.5, 10000)}
    return queue


def _rule(world: World) -> Part:
    rule: Part = {}
    if world.often(0.7):
        rule["quota"] = world.one(0, 2, 4, 8, 12, "unlimited")
    if world.odd(1.5):
        rule["limit"] = world.one(0, 4, 8, 12, "unlimited")
    if world.odd():
        rule["weight"] = world.one(0, 2)
    if world.odd():
        rule["lendingLimit"] = world.one(0, 1, 4)
    return rule


def add_budgets(world: World) -> None:
    """
    Add budgets that some gangs share.
    """
    names = [
        f"{gang.get('namespace', 'default')}/{gang['name']}" for gang in world.gangs
    ]
    for at in range(2):
        if world.odd():
            some = [name for name in names if world.often(0.4)]
            world.budgets.append(
                {"name": f"b{at}", "gangs": some, "allowed": world.number(0, 3)}
            )
