"""
What must agree across a file: names, references and totals.

What only makes a gang wait is no fault here: an unknown queue, a queue's missing
parent, a missing gang of a group, a node that is gone.
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import islice

from adapters.files.checking.booked_devices import booked_faults
from adapters.files.checking.device_checks import (
    node_device_faults,
    placed_faults,
    says_devices,
)
from adapters.files.checking.gang_checks import (
    gang_faults,
    leaves_of,
    unreachable_minimums,
)
from adapters.files.checking.problems import Fault, Path, suggest
from adapters.files.checking.sizes import size_faults
from models.dialects import contradiction
from models.documents.expect import Expect
from models.documents.queue_specs import QueueSpec
from models.documents.scenario import (
    GangSpec,
    Given,
    GroupSpec,
    NodeSpec,
    ScenarioFile,
)
from models.policy import Policy
from models.queues import MOST_KEEPING, MOST_LEVELS

_MOST_LOST_NAMES = 100


def file_faults(
    file: ScenarioFile,
    *,
    besides: bool = False,
    observed: Container[int] | None = None,
) -> list[Fault]:
    """
    Find everything that is well written and still cannot be obeyed.

    ``besides`` says that manifests were given beside the file, ``observed`` which of
    the gangs somebody saw, where not all come from one file.
    """
    given = file.given
    faults = list(size_faults(given))
    if faults:
        return faults
    faults.extend(_mixed_faults(given, besides=besides))
    faults.extend(_name_faults(given))
    faults.extend(_queue_faults(given.queues))
    if observed is None:
        observed = range(len(given.gangs) if file.is_observed else 0)
    faults.extend(_device_faults(given, observed))
    levels = {topology.name: topology.levels for topology in given.topologies}
    for index, gang in enumerate(given.gangs):
        place = ("given", "gangs", index)
        faults.extend(gang_faults(gang, place, levels))
        if index not in observed:  # what was observed may still be incomplete
            faults.extend(unreachable_minimums(gang, place))
    faults.extend(_pod_name_faults(given.gangs))
    faults.extend(islice(_budget_faults(given), _MOST_LOST_NAMES))
    faults.extend(_kind_faults(file))
    if file.policy is not None:
        faults.extend(_policy_faults(file.policy))
    if file.expect is not None and given.manifests is None and not besides:
        names = {f"{g.namespace}/{n}" for g in given.gangs for n in expanded(g)}
        faults.extend(expect_faults(file.expect, names))
    return faults


def _device_faults(given: Given, observed: Container[int]) -> Iterator[Fault]:
    """
    Find devices that nodes have not, and parts of which nobody says where they run.

    Of what was observed nobody may know it, and devices may be booked twice.
    """
    for index, node in enumerate(given.nodes):
        yield from node_device_faults(node, ("given", "nodes", index))
    concerned = [at for at, gang in enumerate(given.gangs) if says_devices(gang)]
    if not concerned:
        return
    nodes = {name: node for node in given.nodes for name in expanded(node)}
    for index in concerned:
        for place, leaf in leaves_of(given.gangs[index], ("given", "gangs", index)):
            yield from placed_faults(leaf, place, nodes, known=index not in observed)
    written = [at for at in concerned if at not in observed]
    yield from booked_faults({at: given.gangs[at] for at in written}, nodes)


def _mixed_faults(given: Given, *, besides: bool) -> Iterator[Fault]:
    """
    Find records of ours beside manifests: nobody could say which holds.
    """
    hint = "`phalanx snapshot show` writes manifests as records"
    if besides and given.manifests is not None:
        yield ("given", "manifests"), "manifests are given in other files too", hint
    if given.manifests is None and not besides:
        for word in ("schedulers", "dialects"):
            if getattr(given, word) is not None:
                yield ("given", word), f'"{word}" needs manifests', ""
        return
    if what := contradiction(given.dialects or ()):
        yield ("given", "dialects"), what, ""
    for word in ("nodes", "topologies", "queues", "gangs", "budgets"):
        if getattr(given, word):
            what = f"{word} cannot stand beside manifests"
            yield ("given", word), what, hint


def expanded(spec: NodeSpec | GangSpec) -> list[str]:
    """
    Name each of the ``count`` things a record stands for.
    """
    if spec.count == 1:
        return [spec.name]
    return [f"{spec.name}-{i}" for i in range(spec.count)]


def _name_faults(given: Given) -> Iterator[Fault]:
    yield from _twice("node", "nodes", map(expanded, given.nodes))
    yield from _twice("queue", "queues", ([s.name] for s in given.queues))
    yield from _twice("topology", "topologies", ([s.name] for s in given.topologies))
    yield from _twice("budget", "budgets", ([s.name] for s in given.budgets))
    gangs = ([f"{s.namespace}/{n}" for n in expanded(s)] for s in given.gangs)
    yield from _twice("gang", "gangs", gangs)
    for index, topology in enumerate(given.topologies):
        if len(set(topology.levels)) != len(topology.levels):
            place = ("given", "topologies", index, "levels")
            yield place, "a level is listed twice", ""


def _twice(noun: str, word: str, names: Iterable[list[str]]) -> Iterator[Fault]:
    seen: dict[str, int] = {}
    for index, several in enumerate(names):
        for name in several:
            first = seen.setdefault(name, index)
            if first != index:
                yield (
                    ("given", word, index, "name"),
                    f'{noun} "{name}" exists twice',
                    "",
                )


def _keeps(queue: QueueSpec) -> bool:
    return any(
        rule.lending_limit is not None
        for resource, spec in queue.resources.items()
        for _, rule in spec.of_models(resource)
    )


def _queue_faults(queues: list[QueueSpec]) -> Iterator[Fault]:
    """
    Find queues that are above themselves, or below too many others.
    """
    parents = {queue.name: queue.parent for queue in queues}
    circles: dict[str, list[str]] = {}
    depths: dict[str, int] = {}
    for queue in queues:
        path: list[str] = []
        above: str | None = queue.name
        while above is not None and above not in depths:
            depths[above] = 0
            path.append(above)
            above = parents.get(above)
        if above in path:
            circle = path[path.index(above) :]
            circles |= dict.fromkeys(circle, circle)
        depth = depths.get(above, 0) if above is not None else 0
        for name in reversed(path):
            depth += 1
            depths[name] = depth
    keeping = [at for at, queue in enumerate(queues) if _keeps(queue)]
    for index in keeping[MOST_KEEPING:]:
        why = f"at most {MOST_KEEPING} queues may keep room of their quotas"
        yield ("given", "queues", index, "resources"), why, ""
    for index, queue in enumerate(queues):
        place: Path = ("given", "queues", index, "parent")
        if queue.name in circles:
            shown = _circle(circles[queue.name], queue.name)
            yield place, f"queues in a cycle: {shown}", ""
        elif depths[queue.name] == MOST_LEVELS + 1:
            what = f"more than {MOST_LEVELS} queues above one another"
            yield place, what, ""


def _circle(names: list[str], first: str) -> str:
    at = names.index(first)
    shown = [*names[at:], *names[:at], first]
    if len(shown) > 8:
        shown = [*shown[:4], "…", *shown[-3:]]
    return " → ".join(shown)


def _pod_name_faults(gangs: list[GangSpec]) -> Iterator[Fault]:
    """
    Find two gangs of a namespace that would give two pods one name.
    """
    seen: dict[tuple[str, str], int] = {}
    yield from _listed_name_faults(gangs)
    for index, gang in enumerate(gangs):
        tails = [
            f"-{leaf.name}" if isinstance(leaf, GroupSpec) else ""
            for _, leaf in leaves_of(gang, ())
            if leaf.names is None and leaf.created != 0
        ]
        for stem in (name + tail for name in expanded(gang) for tail in tails):
            first = seen.setdefault((gang.namespace, stem), index)
            if first != index and gangs[first].name != gang.name:
                place: Path = ("given", "gangs", index, "name")
                what = f"two pods would be called {gang.namespace}/{stem}-0"
                yield (
                    place,
                    what,
                    f'the other one belongs to gang "{gangs[first].name}"',
                )


def _listed_name_faults(gangs: list[GangSpec]) -> Iterator[Fault]:
    """
    Find pods of a namespace that are listed with one name.
    """
    seen: set[tuple[str, str]] = set()
    for index, gang in enumerate(gangs):
        for place, leaf in leaves_of(gang, ("given", "gangs", index)):
            for at, name in enumerate(leaf.names or ()):
                if (gang.namespace, name) in seen:
                    what = f"pod {gang.namespace}/{name} exists twice"
                    yield (*place, "names", at), what, ""
                seen.add((gang.namespace, name))
    if seen:
        yield from _generated_name_faults(gangs, seen)


def _generated_name_faults(
    gangs: list[GangSpec], listed: set[tuple[str, str]]
) -> Iterator[Fault]:
    """
    Find pods whose name by rule is listed for another pod.
    """
    for index, gang in enumerate(gangs):
        for place, leaf in leaves_of(gang, ("given", "gangs", index)):
            if leaf.names is not None:
                continue
            tail = f"-{leaf.name}" if isinstance(leaf, GroupSpec) else ""
            said = (leaf.created, leaf.replicas, leaf.min)
            number = next((number for number in said if number is not None), 0)
            for name in expanded(gang):
                for at in range(number):
                    pod = f"{name}{tail}-{at}"
                    if (gang.namespace, pod) in listed:
                        what = f"two pods would be called {gang.namespace}/{pod}"
                        yield place, what, ""


def _budget_faults(given: Given) -> Iterator[Fault]:
    """
    Find budgets for gangs that do not exist: a misspelt one would protect nobody.
    """
    if not given.budgets:
        return
    gangs = {f"{g.namespace}/{name}" for g in given.gangs for name in expanded(g)}
    short = [gang.removeprefix("default/") for gang in gangs]
    for index, budget in enumerate(given.budgets):
        for at, name in enumerate(budget.gangs):
            if full_name(name) not in gangs:
                place: Path = ("given", "budgets", index, "gangs", at)
                yield place, f'there is no gang "{name}"', suggest(name, short)


def _kind_faults(file: ScenarioFile) -> Iterator[Fault]:
    said = file.model_fields_set
    words = ("rule", "policy", "expect")
    if file.kind == "Snapshot":
        for word in words:
            if word in said:
                hint = "write kind: Scenario"
                yield (word,), f"a snapshot has no {word}", hint


def _policy_faults(policy: Policy) -> Iterator[Fault]:
    names = [tier.name for tier in policy.tiers]
    if "borrowing" in names and "entitled" not in names[: names.index("borrowing")]:
        what = "borrowing counts what is not entitled, so it comes after entitled"
        yield ("policy", "tiers"), what, "list entitled before it"


def expect_faults(
    expect: Expect, gangs: set[str], place: Path = ("expect",)
) -> Iterator[Fault]:
    """
    Find gangs that are expected something of and do not exist.
    """
    said: list[tuple[str, Path]] = []
    short = [gang.removeprefix("default/") for gang in gangs]
    for word in ("starts", "runs", "leaves", "waits", "evicts", "moves", "reserves"):
        names = getattr(expect, word)
        if isinstance(names, Mapping):
            said.extend((name, (*place, word, name)) for name in names)
    for index, same in enumerate(expect.same or ()):
        said.append((same.gang, (*place, "same", index, "gang")))
    for name, where in said:
        if full_name(name) not in gangs:
            yield where, f'there is no gang "{name}"', suggest(name, short)
    if expect.greedy is not None:
        yield from expect_faults(expect.greedy, gangs, (*place, "greedy"))


def full_name(name: str) -> str:
    """
    Put the default namespace in front of a name without one.
    """
    return name if "/" in name else f"default/{name}"
