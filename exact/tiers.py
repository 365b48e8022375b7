"""
The tiers of the small model as expressions over its variables.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from exact.facts import GangFacts
from exact.left_over import left_over
from exact.model import new_pods_by_domain, running_domains
from exact.preferred import unmet
from exact.small_model import SmallModel
from exact.trees import least_value, satisfied, tree_nodes
from models.gangs import PodPhase, PodSet, pod_sets
from models.policy import Policy
from models.resources import CPU, gpu_pieces, is_gpu, pieces_per_gpu
from solver.effort.cp_sat import cp_model

Expr = cp_model.LinearExpr


def tier_expressions(
    small: SmallModel, policy: Policy
) -> Iterator[tuple[str, int | None, int, Expr]]:
    """
    List the tiers as (name, band, sign, expression); the sign of a maximum is 1.
    """
    bands = _bands(small, policy)
    by_band = {"entitled": _entitled, "borrowing": _borrowing}
    whole: dict[str, tuple[int, Callable[[SmallModel], Expr]]] = {
        "disruption": (-1, _nothing),
        "topology": (-1, _spread),
        "neighbours": (-1, unmet),
        "surplus": (1, _surplus),
        "expected-fragments": (-1, partial(left_over, policy=policy)),
        "packing": (-1, _broken_holes),
        "gpus": (1, _gpus),
        "pods": (1, _pods),
        "gangs": (1, _gangs),
        "late": (1, partial(_late, policy=policy)),
        "order": (1, _order),
    }
    names = [tier.name for tier in policy.tiers if tier.name != "order"]
    for name in [*names, "order"]:
        if name in by_band:
            for band, gangs in bands:
                yield name, band, 1, by_band[name](small, policy, gangs)
        else:
            sign, expression = whole[name]
            yield name, None, sign, expression(small)


def _nothing(_: SmallModel) -> Expr:
    """
    Lose no work: nothing is evicted yet.
    """
    return _total([])


def _total(terms: Iterable[cp_model.LinearExprT]) -> Expr:
    return cp_model.LinearExpr.sum([0, *terms])


def _bands(small: SmallModel, policy: Policy) -> list[tuple[int, list[str]]]:
    """
    Group the gangs in need by band, the highest first, labelled by lowest priority.
    """
    members: dict[int, list[str]] = {}
    for key in small.starts:
        level = band_level(start_priority(small, key), policy.bands)
        members.setdefault(level, []).append(key)
    return [
        (min(start_priority(small, key) for key in members[level]), members[level])
        for level in sorted(members, reverse=True)
    ]


def band_level(priority: int, cuts: tuple[int, ...] | None) -> int:
    """
    Give the band of a priority: itself, or how many cut points it reaches.
    """
    return priority if cuts is None else sum(cut <= priority for cut in cuts)


def start_priority(small: SmallModel, key: str) -> int:
    """
    Give the lowest priority of a gang and of those it starts with.
    """
    gangs = small.facts.gangs
    return min(gangs[name].gang.priority for name in (key, *gangs[key].mates))


def _worth(policy: Policy, fact: GangFacts) -> int:
    return (fact.least or 0) * policy.quarters(fact.gang.age)


def _entitled(small: SmallModel, policy: Policy, gangs: list[str]) -> Expr:
    """
    Weigh entitled starts in quarters, by what is left of their queue's share.
    """
    terms = []
    for key in gangs:
        fact = small.facts.gangs[key]
        weight = _worth(policy, fact) * _modesty(small, fact, 4)
        terms.append(weight * small.entitled[key])
    return _total(terms)


def _borrowing(small: SmallModel, policy: Policy, gangs: list[str]) -> Expr:
    """
    Weigh borrowing starts in quarters, too.
    """
    terms = []
    for key in gangs:
        fact = small.facts.gangs[key]
        weight = _worth(policy, fact) * _modesty(small, fact, 1)
        terms.append(weight * (small.starts[key] - small.entitled[key]))
    return _total(terms)


def _modesty(small: SmallModel, fact: GangFacts, none: int) -> int:
    """
    Weigh a gang by what its leaf queue uses of its share: 4, 3, 2 or 1.
    """
    if not fact.path:
        return none
    queue = fact.path[0]
    used = []
    for name in small.facts.named:
        share = small.shares.get(queue, {}).get(name, 0)
        held = small.facts.held.get((queue, name), 0)
        if share > 0:
            used.append((held, share))
        elif held > 0:
            used.append((1, 1))
    weights = [4 - min(3, 4 * held // share) for held, share in used]
    return min(weights, default=none)


def _spread(small: SmallModel) -> Expr:
    """
    Sum the preferred domains beyond the first, over gangs that may get pods.
    """
    terms: list[cp_model.LinearExprT] = []
    for key, fact in small.planned():
        for tree in tree_nodes(fact.gang.tree):
            if tree.topology is None or tree.topology.preferred is None:
                continue
            level = tree.topology.preferred
            running = running_domains(small, tree, level)
            beyond = small.cp.new_int_var(0, len(small.receives) + len(running), "")
            domains: list[cp_model.LinearExprT] = [1 for _ in running]
            for where, pods in new_pods_by_domain(small, key, tree, level).items():
                if where not in running:
                    here = small.cp.new_bool_var("")
                    small.cp.add(sum(pods) == 0).only_enforce_if(~here)
                    domains.append(here)
            small.cp.add(beyond >= _total(domains) - 1)
            terms.append(beyond)
    return _total(terms)


def _surplus(small: SmallModel) -> Expr:
    bound = [
        fact.values[leaf] * var
        for key, fact in small.planned()
        for leaf, var in small.placed[key].items()
    ]
    needed = [
        (small.facts.gangs[key].least or 0) * start
        for key, start in small.starts.items()
    ]
    return _total(bound) - _total(needed)


def _broken_holes(small: SmallModel) -> Expr:
    """
    Sum the squares of what was free on the nodes that get pods.

    Each reserved pod counts for each of its GPUs, at least once and at most a thousand
    times, one more than the largest of them.
    """
    holes = _holes(small)
    terms = [holes[node] ** 2 * var for node, var in small.receives.items()]
    waiting = max(holes.values(), default=0) ** 2 + 1
    pieces = pieces_per_gpu(node.allocatable for node in small.facts.snapshot.nodes)
    for key, fact in small.planned():
        for leaf in pod_sets(fact.gang.tree) if key in small.reserved else ():
            gpus = -(-gpu_pieces(leaf.requests, pieces) // pieces)
            terms.append(
                waiting * min(max(1, gpus), 1_000) * small.placed[key][leaf.name]
            )
    return _total(terms)


def _holes(small: SmallModel) -> Mapping[str, int]:
    """
    Give the free GPUs of each node, or whole free CPUs where no node has GPUs.
    """
    nodes = small.facts.snapshot.nodes
    free = small.facts.free
    if any(is_gpu(r) and n for node in nodes for r, n in node.allocatable.items()):
        return {
            node.name: sum(max(0, n) for r, n in free[node.name].items() if is_gpu(r))
            for node in nodes
        }
    return {node.name: max(0, free[node.name].get(CPU, 0)) // 1000 for node in nodes}


def _gpus(small: SmallModel) -> Expr:
    nodes = small.facts.snapshot.nodes
    pieces = pieces_per_gpu(node.allocatable for node in nodes)
    there = _there_after(small)
    return _total(gpu_pieces(leaf.requests, pieces) * number for leaf, number in there)


def _pods(small: SmallModel) -> Expr:
    return _total(number for _, number in _there_after(small))


def _there_after(
    small: SmallModel,
) -> Iterator[tuple[PodSet, cp_model.LinearExprT]]:
    """
    Count the pods of each leaf that run or are bound after the plan.
    """
    for key, fact in small.facts.gangs.items():
        for leaf in pod_sets(fact.gang.tree):
            running = sum(pod.phase is PodPhase.RUNNING for pod in leaf.pods)
            if key not in small.stale:
                yield leaf, running
            elif key in small.starts:
                yield leaf, running * small.starts[key]
            if key in small.placed and key not in small.reserved:
                yield leaf, small.placed[key][leaf.name]


def _gangs(small: SmallModel) -> Expr:
    before = sum(
        fact.ordinary or satisfied(fact.gang.tree, fact.counted)
        for key, fact in small.facts.gangs.items()
        if key not in small.stopped
    )
    bound = [var for key, var in small.starts.items() if key not in small.reserved]
    return _total([before, *bound])


def _late(small: SmallModel, policy: Policy) -> Expr:
    """
    Sum the least values of starts that were passed over for long and are large enough.
    """
    tier = next(tier for tier in policy.tiers if tier.name == "late")
    facts = small.facts.gangs
    terms = []
    for key, start in small.starts.items():
        team = [facts[name] for name in (key, *facts[key].mates)]
        waited = max(fact.gang.passed_over for fact in team)
        gpus = sum(_least_gpus(fact) for fact in team)
        if waited >= (tier.after or 0) and gpus >= (tier.gpus or 0):
            terms.append((facts[key].least or 0) * start)
    return _total(terms)


def _least_gpus(fact: GangFacts) -> int:
    gpus = {leaf.name: _gpus_of(leaf) for leaf in pod_sets(fact.gang.tree)}
    return least_value(fact.gang.tree, fact.counted, fact.pending, gpus) or 0


def _gpus_of(leaf: PodSet) -> int:
    return sum(n for name, n in leaf.requests.items() if is_gpu(name))


def _order(small: SmallModel) -> Expr:
    """
    Sum (n - position) over starts; positions go by age, the oldest first, then key.
    """
    gangs = small.facts.gangs
    line = sorted(small.starts, key=lambda key: (-gangs[key].gang.age, key))
    return _total((len(line) - idx) * small.starts[key] for idx, key in enumerate(line))
