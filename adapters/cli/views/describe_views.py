"""
One gang, queue, node or round, on a screen.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from adapters.cli.terminal.output import Table, screen_width
from adapters.cli.views.device_cells import device_lines
from adapters.cli.views.get_views import gangs_of
from adapters.cli.views.listing import Listing, Look, span, table_of
from adapters.cli.views.owed import used_words
from adapters.cli.views.record_views import done, failed, recorded_gangs, widest
from adapters.cli.views.tier_view import recorded_tiers
from adapters.inventory.gangs import GangRow, gang_rows, requests_of
from adapters.inventory.listed import Seen
from adapters.inventory.nodes import NodeRow
from adapters.inventory.queues import QueueRow, bound
from adapters.observe.round_file import steps_of
from models.devices.gpu_counts import (
    shown_amount,
    shown_gpus,
    written_amounts,
    written_name,
    written_request,
)
from models.gangs import Group, PodPhase, Tree, pod_sets
from models.nodes import Node
from models.plan import TierResult
from models.resources import is_worth_nothing
from models.topology import TopologyDemand
from models.volume_slots import UNLIMITED
from models.why.reasons import counted
from models.why.resource_words import counts_several, in_words
from models.why.without_rules import START

NOTHING = "–"
_SHOWN = 20
_WIDTH = 12


def gang_lines(seen: Seen, row: GangRow) -> list[str]:
    """
    Lay a gang out.
    """
    gang = row.gang
    phases = [f"{row.pods[phase]:,} {phase.value.lower()}" for phase in PodPhase]
    pods = ", ".join(text for text in phases if not text.startswith("0 "))
    reason = row.why.reason if row.why else ""
    facts = {
        "Gang": row.key,
        "State": row.state,
        "Reason": ": ".join(filter(None, (reason, row.message))),
        "Waits for": row.waits_for,
        "Starts": _START.get(row.starts, row.starts),
        "Queue": row.queue,
        "Priority": f"{gang.priority}, {'' if gang.preemptible else 'not '}preemptible",
        "Age": span(gang.age),
        "Pods": f"{pods or 'none'}; needs {row.minimum:,} of {row.total:,}",
        "Asks for": _amounts(requests_of(gang)),
        "Starts with": ", ".join(mate for mate in gang.mates if mate != row.key),
        "Passed over": span(gang.passed_over) if gang.passed_over else "",
        "Backs off": f"for {span(gang.backoff)} more" if gang.backoff else "",
        "Read from": seen.dialects.get(row.key, ""),
        "Labels": _pairs((seen.labels or {}).get(row.key, {})),
    }
    tree = Table(
        ("PART", "NEEDS", "PODS", "RUN", "EACH ASKS FOR", "TOPOLOGY"),
        list(_parts(gang.tree, 0)),
        frozenset({2, 3}),
    )
    return [*_facts(facts), "", *tree.lines(), *_places(row)]


_MANY = 2**20
"""
More than one of anything, in whatever it is counted.
"""
_START = {"now": START["Starting"], "next": START["Reserved"]}


def gang_document(seen: Seen, row: GangRow) -> dict[str, Any]:
    """
    Give a gang as plain values, with its tree as files write it.
    """
    from adapters.files.writing.snapshot_writer import snapshot_document
    from models.snapshot import Snapshot

    alone = snapshot_document(Snapshot(gangs=(row.gang,)))
    return {
        "kind": "Gang",
        **row.document(),
        "dialect": seen.dialects.get(row.key),
        "labels": dict((seen.labels or {}).get(row.key, {})),
        "spec": alone["given"]["gangs"][0],
    }


def queue_lines(seen: Seen, row: QueueRow) -> list[str]:
    """
    Lay a queue out.
    """
    queue = row.queue
    runtimes = {
        "preempt": queue.preempt_min_runtime,
        "reclaim": queue.reclaim_min_runtime,
    }
    facts = {
        "Queue": row.name,
        "Parent": queue.parent or "none",
        "Children": ", ".join(
            q.name for q in seen.snapshot.queues if q.parent == row.name
        ),
        "State": row.state,
        "Priority": str(queue.priority),
        "Protected": ", ".join(
            f"from {word} for {span(seconds)}"
            for word, seconds in runtimes.items()
            if seconds
        ),
        "Over time": used_words(row),
    }
    table = _holdings(row)
    gangs = [gang for gang in gang_rows(seen) if gang.queue == row.name]
    return [
        *_facts(facts),
        "",
        *(table.lines() if row.holdings else ["No queue names a resource."]),
        "",
        *_some(gangs_of(seen), gangs, "No gangs are in it."),
    ]


def _holdings(row: QueueRow) -> Table:
    """
    Lay out what a queue has and may have of each resource.
    """
    return Table(
        ("RESOURCE", "USED", "SHARE", "BORROWED", "QUOTA", "KEPT", "LIMIT", "WEIGHT"),
        [
            (
                written_name(name),
                *(
                    shown_amount(name, amount)
                    for amount in (held.used, held.share, held.borrowed)
                ),
                bound(name, held.quota) or "none",
                shown_amount(name, held.kept),
                bound(name, held.limit) or "none",
                str(held.weight),
            )
            for name, held in sorted(row.holdings.items())
        ],
        frozenset(range(1, 8)),
    )


def node_lines(seen: Seen, row: NodeRow) -> list[str]:
    """
    Lay a node out.
    """
    node = row.node
    taints = [
        f"{taint.key}{f'={taint.value}' if taint.value else ''}:{taint.effect}"
        for taint in node.taints
    ]
    state = "closed: cordoned, not ready, or not readable"
    facts = {
        "Node": row.name,
        "State": state if node.unschedulable else "open",
        "Taints": ", ".join(taints),
        "Labels": _pairs(node.labels),
    }
    ours, others = written_amounts(row.ours), written_amounts(row.others)
    have, free = written_amounts(node.allocatable), written_amounts(row.free)
    names = sorted({*have, *ours, *others} - _not_listed(node))
    sides = have, ours, others, free
    table = Table(
        ("RESOURCE", "HAS", "GANGS USE", "OTHERS USE", "FREE"),
        [(in_words(name), *(side.get(name, "0") for side in sides)) for name in names],
        frozenset(range(1, 5)),
    )
    there = Table(
        ("GANG", "PODS"),
        [(name, f"{number:,}") for name, number in sorted(row.gangs.items())],
        frozenset({1}),
    )
    lines = there.lines() if row.gangs else ["No pods of gangs are on it."]
    lines += device_lines(row)
    del seen
    return [*_facts(facts), "", *table.lines(), "", *lines]


def _not_listed(node: Node) -> set[str]:
    """
    Name what of a node has no limit, or says again which devices it has.
    """
    return {
        name
        for name, amount in node.allocatable.items()
        if (is_worth_nothing(name) and amount >= UNLIMITED) or counts_several(name)
    }


def round_lines(record: Mapping[str, Any]) -> list[str]:
    """
    Lay a recorded round out.
    """
    versions = record.get("versions") or {}
    facts = {
        "Round": str(record["name"]),
        "Began": str(record["began"]),
        "Outcome": _outcome(record),
        "Plan": _plan(record),
        "Snapshot": f"{record.get('snapshot') or NOTHING}",
        "Seed": str(record.get("seed", NOTHING)),
        "Versions": ", ".join(f"{name} {word}" for name, word in versions.items()),
        "Seconds": _spent(record.get("seconds") or {}),
        "Done": f"{done(record, 'Bind')} pods bound with "
        f"{shown_gpus(record.get('gpus', 0))} GPUs, "
        f"{done(record, 'Evict', 'Move')} evicted, {failed(record)} operations "
        "not done",
    }
    lines = _facts(facts)
    if "tiers" not in record:
        return lines
    return [*lines, *_tiers(record), *_recorded(record), *_undone(record)]


def _outcome(record: Mapping[str, Any]) -> str:
    why = record.get("why")
    return f"{record['outcome']}{f': {why}' if why else ''}"


def _plan(record: Mapping[str, Any]) -> str:
    if "strategy" not in record:
        return NOTHING
    gap = widest(record)
    known = gap if gap in {"proven", "conditional"} else f"gap {gap}"
    return f"{record['strategy']}, {record['status']}, {known}"


def _spent(seconds: Mapping[str, Any]) -> str:
    spent = dict(seconds.get("round") or {})
    plan = {
        f"plan/{name}": value
        for name, value in (seconds.get("plan") or {}).items()
        if value and name != "total"
    }
    parts = [f"{name} {value:.3f} s" for name, value in {**spent, **plan}.items()]
    return " · ".join(parts)


def _tiers(record: Mapping[str, Any]) -> list[str]:
    every = [TierResult(**tier) for tier in record["tiers"]]
    return ["", *recorded_tiers(every, record["strategy"], screen_width())]


def _recorded(record: Mapping[str, Any]) -> list[str]:
    items = record["gangs"]["items"]
    listing = recorded_gangs(record)
    return ["", *_some(listing, items, listing.empty)]


def _undone(record: Mapping[str, Any]) -> list[str]:
    bad = [step for step in steps_of(record) if step["result"] != "done"]
    if not bad:
        return []
    table = Table(
        ("OPERATION", "POD", "NODE", "RESULT", "MESSAGE"),
        [
            (s["op"], s["pod"], s["node"], s["result"], s.get("message", ""))
            for s in bad[:_SHOWN]
        ],
    )
    return ["", *table.lines(), *_more(len(bad))]


def _some(listing: Listing[Any], rows: Sequence[Any], empty: str) -> list[str]:
    if not rows:
        return [empty]
    table = table_of(listing, rows[:_SHOWN], Look())
    return [*table.lines(), *_more(len(rows))]


def _more(number: int) -> list[str]:
    return [f"… and {number - _SHOWN:,} more"] if number > _SHOWN else []


def _facts(facts: Mapping[str, str]) -> list[str]:
    return [f"{name:<{_WIDTH}} {text}" for name, text in facts.items() if text]


def _places(row: GangRow) -> list[str]:
    """
    Say how many pods are on each node, those that leave told apart.
    """
    counts: dict[str, Counter[str]] = {}
    for leaf in pod_sets(row.gang.tree):
        for pod in leaf.pods:
            if pod.node is not None:
                counts.setdefault(pod.node, Counter())[pod.phase.value.lower()] += 1
    if not counts:
        return []
    rows = [
        (node, ", ".join(f"{number:,} {word}" for word, number in sorted(by.items())))
        for node, by in sorted(counts.items())
    ]
    table = Table(("NODE", "PODS"), rows[:_SHOWN])
    return ["", *table.lines(), *_more(len(rows))]


def _parts(tree: Tree, depth: int) -> Iterable[tuple[str, ...]]:
    """
    Walk the tree, each part indented below its parent.
    """
    name = f"{'  ' * depth}{tree.name or '(all)'}"
    topology = _topology(tree.topology)
    if isinstance(tree, Group):
        needs = f"{tree.min_groups:,} of {counted(len(tree.children), 'group')}"
        if tree.min_pods:
            needs += f", {counted(tree.min_pods, 'pod')}"
        yield name, needs, "", "", "", topology
        for child in tree.children:
            yield from _parts(child, depth + 1)
        return
    run = sum(pod.phase is PodPhase.RUNNING for pod in tree.pods)
    yield (
        name,
        counted(tree.minimum, "pod"),
        f"{tree.replicas:,}",
        f"{run:,}",
        _amounts(written_request(tree.requests)),
        topology,
    )


def _topology(demand: TopologyDemand | None) -> str:
    if demand is None:
        return NOTHING
    wants = {"required": demand.required, "preferred": demand.preferred}
    return ", ".join(f"{word} {level}" for word, level in wants.items() if level)


def _amounts(amounts: Mapping[str, str]) -> str:
    return ", ".join(
        f"{amount} {in_words(name, 1 if amount == '1' else _MANY)}".strip()
        for name, amount in amounts.items()
        if name != "pods"
    )


def _pairs(labels: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(labels.items()))
