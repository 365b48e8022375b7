"""
Two sets of manifests that differ in one field, and what is planned and said of each.

A row of ``docs/reference/dialects.md`` is claimed by the pairs that stand under its
first cell; ``word`` says which of the names in that cell a pair is about.
"""

import re
from collections import defaultdict
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase

from models.policy import Policy
from solver.round import decide
from tests.helpers.kube.manifests import NOW, assembled, node, obj, pod

ABSENT = object()
"""
The value of a field that is not there.
"""
NOTHING = ""
"""
What is said where nothing starts, waits, leaves or is warned of.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """
    A field ``at`` some objects (``Kind/name``, also with ``*``) and its two values.

    ``says`` is what comes of each; ``…`` in it stands for any text.
    """

    given: tuple[dict, ...]
    at: tuple[str | int, ...]
    values: tuple[object, object]
    says: tuple[str, str]
    word: str = ""


def pair(given, at, values, *says, word=""):
    """
    Write a pair: ``at`` is a text of names with spaces between them.
    """
    path = tuple(int(n) if n.isdecimal() else n for n in at.split())
    return Pair(given=tuple(given), at=path, values=values, says=says, word=word)


def manifests(made, value):
    """
    Give the manifests of a pair with one of its values.
    """
    raws = [deepcopy(raw) for raw in made.given]
    objects, path = made.at[0], made.at[1:]
    hit = [
        r for r in raws if fnmatchcase(f"{r['kind']}/{r['metadata']['name']}", objects)
    ]
    assert hit, f"{objects} is not among the manifests"
    for raw in hit:
        inner = raw
        for key in path[:-1]:
            inner = inner[key] if isinstance(inner, list) else inner.setdefault(key, {})
        if value is not ABSENT:
            inner[path[-1]] = deepcopy(value)
        else:
            inner.pop(path[-1], None)
    return raws


def outcome(raws):
    """
    Say in one line what a round makes of manifests: plan, reasons and warnings.
    """
    made = assembled(*raws)
    plan = decide(made.snapshot, Policy(), strategy="greedy")
    steps = defaultdict(list)
    for step in plan.operations:
        steps[step.gang, step.op].append(step.node)
    said = [_line(line, steps) for line in plan.gangs]
    silent = sorted(key for key, claim in made.claims.items() if claim.silent)
    said += [f"pods of {key.removeprefix('default/')} are not told" for key in silent]
    said += [f"warned: {text}" for text in sorted(made.summary.sentences())]
    return "; ".join(filter(None, said))


def _line(line, steps):
    name = line.name.removeprefix("default/")
    found = []
    for op in ("Bind", "Reserve", "Evict", "Move"):
        nodes = steps.get((line.name, op))
        if nodes:
            word = "" if op == "Bind" else f"{op.lower()} "
            found.append(f"{name} {word}{len(nodes)} on {'+'.join(sorted(set(nodes)))}")
    if line.waiting is not None and not found:
        detail = line.waiting.facts.get("detail")
        found.append(f"{name} {line.waiting.reason}" + (f" {detail}" if detail else ""))
    return "; ".join(found)


def matches(expected, actual):
    """
    Tell whether a line is what is expected.
    """
    pattern = ".*".join(map(re.escape, expected.split("…")))
    return re.fullmatch(pattern, actual) is not None


def ago(seconds):
    """
    Write the time so many seconds before the round.
    """
    return datetime.fromtimestamp(NOW - seconds, UTC).isoformat().replace("+00:00", "Z")


def pods(stem, number, **fields):
    """
    Make pods that wait, called ``stem-0`` and so on.
    """
    return [pod(f"{stem}-{at}", **fields) for at in range(number)]


def running(stem, number, *, seconds=3600, on="n", **fields):
    """
    Make pods that have run on a node for some time.
    """
    status = {"phase": "Running", "startTime": ago(seconds)}
    return pods(stem, number, nodeName=on, status=status, **fields)


def room(gpus=8, *others):
    """
    Make a node ``n``, and others ``n1`` …, with so many GPUs.
    """
    return [node("n", gpus), *(node(f"n{i}", g) for i, g in enumerate(others, 1))]


def since(raw, seconds):
    """
    Let an object be so old.
    """
    raw["metadata"]["creationTimestamp"] = ago(seconds)
    return raw


__all__ = ["node", "obj", "pod"]
