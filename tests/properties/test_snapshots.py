"""
Snapshots as files: written and read they are the same, anonymised their plan is.
"""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.files import read_scenario, scenario_of
from adapters.files.anonymise import anonymised
from adapters.files.snapshot_diff import changes
from adapters.files.text import parse_text
from adapters.files.writing.snapshot_writer import in_file_order, snapshot_document
from adapters.files.writing.yaml_writer import yaml_text
from models.gangs import Group, pod_sets
from models.policy import Limits, Policy
from models.snapshot import content_hash
from solver.round import decide
from tests.helpers.rounds.cases import random_snapshot

FOLDER = Path(__file__).parents[2] / "scenarios"
FILES = sorted(
    str(path.relative_to(FOLDER))
    for path in FOLDER.glob("*/**/*.yaml")
    if "perf" not in path.parts
)
SEEDS = range(25)


def read_back(snapshot):
    text = yaml_text(snapshot_document(snapshot))
    return scenario_of("written", parse_text("written.yaml", text)).snapshot


def as_a_file_says(tree):
    """
    Files do not say uids, and list pods by phase.
    """
    if isinstance(tree, Group):
        return replace(tree, children=tuple(map(as_a_file_says, tree.children)))
    pods = (replace(pod, uid=None) for pod in in_file_order(tree.pods))
    return replace(tree, pods=tuple(pods))


def in_order(snapshot):
    gangs = (replace(g, tree=as_a_file_says(g.tree)) for g in snapshot.gangs)
    return replace(snapshot, gangs=tuple(gangs))


@pytest.mark.drawn
@pytest.mark.parametrize("name", FILES)
def test_what_is_written_is_read_again(name):
    before = in_order(read_scenario(str(FOLDER / name)).snapshot)
    after = read_back(before)

    assert [] == [str(change) for change in changes(before, after)]
    assert content_hash(before) == content_hash(after)


def by_place(snapshot, plan):
    """
    Give a plan in which gangs and nodes are numbers, as names sort; -1 is a lost one.
    """
    gangs = {gang.key: at for at, gang in enumerate(snapshot.gangs)}
    nodes = {node.name: at for at, node in enumerate(snapshot.nodes)}
    steps = sorted(
        (o.op, gangs[o.gang], nodes.get(o.node, -1)) for o in plan.operations
    )
    lines = [
        (gangs[line.name], line.state, line.waiting and line.waiting.reason)
        for line in plan.gangs
    ]
    return steps, sorted(lines, key=str), [(t.name, t.value) for t in plan.tiers]


def assert_same_plan(snapshot, policy):
    other = read_back(anonymised(snapshot))
    expected = by_place(snapshot, decide(snapshot, policy, strategy="solver"))

    assert expected == by_place(other, decide(other, policy, strategy="solver"))


@pytest.mark.drawn
@pytest.mark.parametrize("name", FILES[::5])
def test_an_anonymised_scenario_has_the_same_plan(name):
    scenario = read_scenario(str(FOLDER / name))

    assert_same_plan(scenario.snapshot, scenario.policy)


@pytest.mark.drawn
@pytest.mark.parametrize("seed", SEEDS)
def test_an_anonymised_snapshot_has_the_same_plan(seed):
    assert_same_plan(random_snapshot(seed), Policy(limits=Limits(deterministic=1.0)))


def private(snapshot):
    """
    List every name and every label value.
    """
    found = set()
    for gang in snapshot.gangs:
        found |= {gang.name, gang.namespace, gang.queue}
        for leaf in pod_sets(gang.tree):
            found |= {pod.name for pod in leaf.pods}
            found |= {leaf.name, *(value for _, value in leaf.demand.selector)}
            for term in leaf.demand.terms or ():
                found.update(value for rule in term for value in rule.values)
    for node in snapshot.nodes:
        found |= {node.name, *node.labels.values()}
        found.update(taint.value for taint in node.taints)
    found |= {queue.name for queue in snapshot.queues}
    found |= {topology.name for topology in snapshot.topologies}
    found |= {budget.name for budget in snapshot.budgets}
    return found - {""}


@pytest.mark.drawn
@pytest.mark.parametrize("name", FILES[::3])
def test_no_name_and_no_label_value_is_left(name):
    snapshot = read_scenario(str(FOLDER / name)).snapshot
    document = snapshot_document(anonymised(snapshot))["given"]

    assert set() == private(snapshot) & set(words(document))


def words(value):
    """
    Walk the texts of a document that are nobody's but its writer's.
    """
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in PUBLIC:
                yield from words(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from words(inner)
    elif isinstance(value, str):
        yield from re.split(r"[/]", value)


PUBLIC = {
    *("allocatable", "used", "requests", "minResources", "resources", "effect"),
    *("operator", "key", "levels", "required", "preferred", "matchPolicy", "reason"),
    *("state", "mode"),
}


MANIFESTS = [
    name
    for name in FILES
    if "manifests:" in (FOLDER / name).read_text(encoding="utf-8")
]
OURS = re.compile(r"[a-z]{0,2}\d*|true|false|default")
"""
What an anonymised snapshot may say too: new names, numbers, and words of its format.
"""


def said_by(raw):
    """
    Walk the names, label values, annotations and images of an object.
    """
    meta, spec = raw["metadata"], raw.get("spec") or {}
    yield from (meta["name"], meta.get("namespace", ""), meta.get("uid", ""))
    for word in ("labels", "annotations"):
        yield from (meta.get(word) or {}).values()
    for owner in meta.get("ownerReferences") or ():
        yield from (owner["name"], owner.get("uid", ""))
    for container in spec.get("containers") or ():
        yield container.get("image", "")
    yield from (spec.get("nodeSelector") or {}).values()


@pytest.mark.drawn
@pytest.mark.parametrize("name", MANIFESTS)
def test_nothing_that_objects_say_of_themselves_is_left(name):
    text = (FOLDER / name).read_text(encoding="utf-8")
    raws = parse_text(name, text)["given"]["manifests"]
    snapshot = read_scenario(str(FOLDER / name)).snapshot
    document = snapshot_document(anonymised(snapshot))["given"]
    said = {str(word) for raw in raws for word in said_by(raw)}

    told = {part for word in words(document) for part in re.split(r"[^\w.-]+", word)}
    assert set() == {word for word in said & told if not OURS.fullmatch(word)}
