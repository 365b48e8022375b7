"""
Placing one gang by hand: its tree, child by child, in the tightest places that fit.

This is search by good habit, not by proof: children that fail are passed over, other
domains are tried, nothing already placed for other gangs is revisited.
"""

from collections.abc import Iterator, Mapping

from solver.room import Bools
from solver.spread import OUTSIDE, running_domains
from solver.standing import Standing, TreeNode
from solver.workspace import Workspace

MOST_DOMAINS = 64


def place_gang(work: Workspace, state: Standing) -> bool:
    """
    Place the pods that a gang needs to start; undo everything when they do not fit.
    """
    mark = work.mark()
    if _place(work, state, 0, None):
        return True
    work.undo(mark)
    return False


def place_surplus(work: Workspace, state: Standing) -> int:
    """
    Place pods beyond what is needed, leaf by leaf; say how many.
    """
    return _surplus(work, state, 0, None)


def _num(work: Workspace, state: Standing, leaf: int) -> int:
    return len(work.placed.get(state.key, {}).get(leaf, ()))


def _counted(work: Workspace, state: Standing, node: TreeNode) -> int:
    return node.counted + sum(_num(work, state, i) for i in node.leaves)


def _place(work: Workspace, state: Standing, at: int, mask: Bools | None) -> bool:
    """
    Satisfy one tree node, in each domain that may hold it until one does.
    """
    node = state.nodes[at]
    for inside in masks_for(work, state, node, mask):
        mark = work.mark()
        done = (
            _place_leaf(work, state, node.leaf, inside)
            if node.leaf >= 0
            else _place_children(work, state, at, inside)
        )
        if done:
            return True
        work.undo(mark)
    return False


def _place_leaf(work: Workspace, state: Standing, leaf: int, mask: Bools | None) -> bool:
    here = state.leaves[leaf]
    have = here.counted + _num(work, state, leaf)
    need = max(here.minimum, 1) - have
    if need <= 0:
        return True
    if need > len(here.pending) - _num(work, state, leaf):
        return False
    if not roles_reached(work, state, leaf):
        return False
    return work.fill(state, leaf, need, mask) == need


def roles_reached(work: Workspace, state: Standing, leaf: int) -> bool:
    """
    Tell whether every leaf that must come first has its minimum.
    """
    return all(
        state.leaves[i].counted + _num(work, state, i) >= state.leaves[i].minimum
        for i in state.leaves[leaf].after
    )


def _place_children(
    work: Workspace, state: Standing, at: int, mask: Bools | None
) -> bool:
    node = state.nodes[at]
    live = {c for c in node.children if state.nodes[c].live}
    for child in _by_ease(state, node):
        if len(live) >= node.min_groups:
            break
        if child not in live and _place(work, state, child, mask):
            live.add(child)
    if len(live) < node.min_groups:
        return False
    return _reach_pods(work, state, at, mask)


def _by_ease(state: Standing, node: TreeNode) -> list[int]:
    """
    Order children: those that others wait for first, then the largest if all are
    needed, else the cheapest.
    """
    waited = {i for leaf in state.leaves for i in leaf.after}
    sign = -1 if node.min_groups >= len(node.children) else 1

    def rank(child: int) -> tuple[bool, bool, int, int, str]:
        below = state.nodes[child].leaves
        after = any(state.leaves[i].after for i in below)
        first = any(i in waited for i in below)
        cost = sum(state.leaves[i].need * _weight(state, i) for i in below)
        largest = max(_weight(state, i) for i in below)
        return (not first, after, sign * largest, sign * cost, state.nodes[child].path)

    return sorted(node.children, key=rank)


def _weight(state: Standing, leaf: int) -> int:
    requests = state.leaves[leaf].pod_set.requests
    gpus = sum(v for r, v in requests.items() if "gpu" in r)
    return gpus * 1_000_000 + requests.get("cpu", 0)


def _reach_pods(work: Workspace, state: Standing, at: int, mask: Bools | None) -> bool:
    """
    Add pods below a node until its minimum over all shapes holds.
    """
    node = state.nodes[at]
    progress = True
    while progress and _counted(work, state, node) < node.min_pods:
        progress = False
        for leaf, inside in _open_leaves(work, state, at, mask):
            missing = node.min_pods - _counted(work, state, node)
            if missing <= 0:
                break
            if _grow_leaf(work, state, leaf, inside, missing):
                progress = True
    return _counted(work, state, node) >= node.min_pods


def _grow_leaf(
    work: Workspace, state: Standing, leaf: int, mask: Bools | None, most: int
) -> int:
    """
    Give a leaf up to ``most`` pods, or at least what its own minimum still asks for.
    """
    here = state.leaves[leaf]
    have = _num(work, state, leaf)
    least = max(1, here.minimum - here.counted - have)
    count = min(max(most, least), len(here.pending) - have)
    if count < least or not roles_reached(work, state, leaf):
        return 0
    mark = work.mark()
    done = work.fill(state, leaf, count, mask)
    if done < least:
        work.undo(mark)
        return 0
    return done


def _open_leaves(
    work: Workspace, state: Standing, at: int, mask: Bools | None
) -> Iterator[tuple[int, Bools | None]]:
    """
    Walk the leaves below a node whose inner nodes are satisfied, roles in order.
    """
    node = state.nodes[at]
    if node.leaf >= 0:
        yield node.leaf, mask
        return
    for child in _by_ease(state, node):
        below = state.nodes[child]
        if below.leaf < 0 and not _is_satisfied(work, state, child):
            continue
        for inside in masks_for(work, state, below, mask):
            yield from _open_leaves(work, state, child, inside)
            break


def _is_satisfied(work: Workspace, state: Standing, at: int) -> bool:
    node = state.nodes[at]
    counted = _counted(work, state, node)
    if node.leaf >= 0:
        return counted >= state.leaves[node.leaf].minimum
    live = sum(
        _is_satisfied(work, state, c) and _counted(work, state, state.nodes[c]) > 0
        for c in node.children
    )
    return live >= node.min_groups and counted >= node.min_pods


def _surplus(work: Workspace, state: Standing, at: int, mask: Bools | None) -> int:
    node = state.nodes[at]
    total = 0
    for inside in masks_for(work, state, node, mask):
        if node.leaf >= 0:
            left = len(state.leaves[node.leaf].pending) - _num(work, state, node.leaf)
            if left > 0:
                total += _grow_leaf(work, state, node.leaf, inside, left)
        elif _is_satisfied(work, state, at):
            for child in _by_ease(state, node):
                total += _surplus(work, state, child, inside)
        elif _place(work, state, at, mask):
            total += 1 + _surplus(work, state, at, mask)
        if total:
            break
    return total


def masks_for(
    work: Workspace, state: Standing, node: TreeNode, mask: Bools | None
) -> list[Bools | None]:
    """
    List the places a tree node may use: every domain it may be in, fullest first.
    """
    demand = node.topology
    if demand is None:
        return [mask]
    if demand.required is None:
        return _preferred_first(work, state, node, mask)
    level = demand.required
    domains = work.domains(demand.topology, level)
    used = running_domains(work.problem, state, node, demand, level)
    used |= _placed_domains(work, state, node, domains)
    if OUTSIDE in used or len(used) > 1:
        return []
    chosen = {d: m for d, m in domains.items() if not used or d in used}
    return _ranked(work, state, node, chosen, mask)


def _preferred_first(
    work: Workspace, state: Standing, node: TreeNode, mask: Bools | None
) -> list[Bools | None]:
    demand = node.topology
    assert demand is not None
    assert demand.preferred is not None
    level = demand.preferred
    domains = work.domains(demand.topology, level)
    used = running_domains(work.problem, state, node, demand, level)
    used |= _placed_domains(work, state, node, domains)
    near = {d: m for d, m in domains.items() if not used or d in used}
    return [*_ranked(work, state, node, near, mask), mask]


def _placed_domains(
    work: Workspace,
    state: Standing,
    node: TreeNode,
    domains: Mapping[tuple[str, ...], Bools],
) -> set[tuple[str, ...]]:
    hosts = [
        h for i in node.leaves for h in work.placed.get(state.key, {}).get(i, ())
    ]
    if not hosts:
        return set()
    return {d for d, mask in domains.items() if mask[hosts].any()}


def _ranked(
    work: Workspace,
    state: Standing,
    node: TreeNode,
    domains: Mapping[tuple[str, ...], Bools],
    mask: Bools | None,
) -> list[Bools | None]:
    """
    Order domains by what is free in them, least first, dropping those too small.
    """
    if len(domains) == 1:
        only = next(iter(domains.values()))
        return [only if mask is None else only & mask]
    ranked = []
    rooms = {
        i: work.room_for(state, i, mask)
        for i in node.leaves
        if len(state.leaves[i].pending) > _num(work, state, i)
    }
    rigid = state.rigid
    for at, inside in enumerate(domains.values()):
        if rigid and any(
            int(room[inside].sum()) < state.leaves[i].need - _num(work, state, i)
            for i, room in rooms.items()
        ):
            continue
        left = float(work.tight[inside].sum())
        ranked.append((left, at, inside))
    ranked.sort(key=lambda item: item[:2])
    return [m if mask is None else m & mask for _, _, m in ranked[:MOST_DOMAINS]]
