"""
Pods near to others, apart from them and spread, read into rules between gangs.
"""

import pytest

from models.gangs import PodSet, pod_sets
from models.neighbours import Apart, Spread
from models.nodes import HOSTNAME
from models.policy import Policy
from solver.problem.problem import problem_of
from tests.helpers.kube.group_objects import two
from tests.helpers.kube.manifests import (
    assembled,
    gang_of,
    in_group,
    node,
    obj,
    pod,
    pod_group,
)


def apart(**labels):
    word = "requiredDuringSchedulingIgnoredDuringExecution"
    term = {
        "labelSelector": {"matchLabels": labels},
        "topologyKey": "kubernetes.io/hostname",
    }
    return {"podAntiAffinity": {word: [term]}}


def test_pods_that_keep_their_own_gang_apart_are_exclusive():
    gang = gang_of(*two(apart(**in_group("g"))), pod_group("g", 2))

    assert gang.refused is None
    assert gang.tree.exclusive


def test_pods_that_keep_apart_nobody_are_not_exclusive():
    gang = gang_of(*two(apart(app="other")), pod_group("g", 2))

    assert gang.refused is None
    assert not gang.tree.exclusive


def neighbours(*raws):
    """
    Give what is said of the pods of each gang, leaf by leaf.
    """
    made = assembled(*raws).snapshot.gangs
    return {
        gang.name: [leaf.neighbours for leaf in pod_sets(gang.tree)] for gang in made
    }


def test_keeping_a_part_of_the_gang_apart_parts_its_leaf():
    first, other = neighbours(*two(apart(i="0")), pod_group("g", 2))["g"]

    assert ("i=0 in default",) == first.selected
    assert () == other.selected
    assert first.apart == other.apart == (Apart("i=0 in default", HOSTNAME),)


def test_pods_of_other_gangs_are_selected():
    other = pod("other", labels={"app": "x", **in_group("g")}, namespace="elsewhere")
    near = pod("near", labels={"app": "x", **in_group("h")})
    group = (pod_group("h", 1), pod_group("g", 1, "elsewhere"))
    found = neighbours(*two(apart(app="x")), pod_group("g", 2), near, *group, other)

    assert ("app=x in default",) == found["h"][0].selected


def keeping(**fields):
    fields = {"schedulerName": "default-scheduler", "nodeName": "n", **fields}
    return pod("keeper", status={"phase": "Running"}, **fields)


REPELLED = {
    "by host": ({}, "kubernetes.io/hostname", "default"),
    "by zone": ({}, "zone", "default"),
    "over a namespace": ({"namespaces": ["default"]}, "zone", "other"),
    "over all namespaces": ({"namespaceSelector": {}}, "zone", "other"),
    "over one by its name": (
        {
            "namespaceSelector": {
                "matchLabels": {"kubernetes.io/metadata.name": "default"}
            }
        },
        "zone",
        "other",
    ),
    "over labels that nobody knows": (
        {"namespaceSelector": {"matchLabels": {"team": "a"}}},
        "zone",
        "other",
    ),
}


@pytest.mark.parametrize("scheduler", ["default-scheduler", "phalanx"])
@pytest.mark.parametrize("case", REPELLED)
def test_a_running_pod_keeps_ours_away_by_any_topology(case, scheduler):
    term, key, namespace = REPELLED[case]
    rules = apart(app="x")
    (inner,) = rules["podAntiAffinity"].values()
    inner[0] |= {**term, "topologyKey": key}
    keeper = keeping(namespace=namespace, schedulerName=scheduler, affinity=rules)
    other = node("m", labels={"zone": "b"})
    place = node("n", labels={"zone": "a"})

    def nodes_for(app):
        waits = pod("waits", labels={"app": app})
        found = assembled(place, other, keeper, waits).snapshot
        problem = problem_of(found, Policy())
        fits = problem.shapes.fits[problem.shapes.of_leaf["default/waits", 0]]
        return {n.name for n, fit in zip(found.nodes, fits, strict=True) if fit}

    assert {"m", "n"} == nodes_for("y")
    assert {"m"} == nodes_for("x")


def liking(weight, key="zone", kind="podAffinity", **labels):
    term = {"labelSelector": {"matchLabels": labels}, "topologyKey": key}
    word = "preferredDuringSchedulingIgnoredDuringExecution"
    return {kind: {word: [{"weight": weight, "podAffinityTerm": term}]}}


def test_what_waiting_pods_prefer_is_said_of_them_and_of_whom_they_mean():
    rules = liking(5, app="x") | liking(2, kind="podAntiAffinity", app="y")
    there = keeping(labels={"app": "y"})
    pods = [
        pod(f"p-{i}", labels={"app": "x", **in_group("g")}, affinity=rules)
        for i in range(2)
    ]
    found = assembled(node("n"), pod_group("g", 2), there, *pods).snapshot
    (one,) = pod_sets(found.gangs[0].tree)

    assert {(r.key, r.weight) for r in one.neighbours.preferred} == {
        ("zone", 5),
        ("zone", -2),
    }
    assert ("preferred app=x in default",) == one.neighbours.preferred_by
    assert not one.neighbours
    ((other, _),) = found.nodes[0].others
    assert ("preferred app=y in default",) == other.preferred_by


@pytest.mark.parametrize("weight", [0, 101, "much", None])
def test_a_preference_that_cannot_be_read_is_left_out(weight):
    found = assembled(node("n"), pod(affinity=liking(weight, app="x"))).snapshot

    assert found.gangs[0].refused is None
    assert found.gangs[0].tree.neighbours.preferred == ()


def test_what_is_preferred_parts_no_pods_of_a_leaf():
    first = pod(
        "p-0", labels={"app": "x", **in_group("g")}, affinity=liking(5, app="x")
    )
    found = assembled(
        node("n"), pod_group("g", 2), first, pod("p-1", labels=in_group("g"))
    )

    assert isinstance(found.snapshot.gangs[0].tree, PodSet)


TEAM_A = {"namespaceSelector": {"matchLabels": {"team": "a"}}}


def namespace(name, **labels):
    return obj("v1", "Namespace", name, meta={"labels": labels})


def by_team(team, *, waits=False):
    """
    Give where a pod may be that is apart by zone from pods of the namespaces of team a.
    """
    rules = apart(app="x")
    (inner,) = rules["podAntiAffinity"].values()
    inner[0] |= {**TEAM_A, "topologyKey": "zone"}
    labels = {"app": "x"}
    one = keeping(
        namespace="other", labels=labels, **({} if waits else {"affinity": rules})
    )
    two = pod("waits", labels=labels, **({"affinity": rules} if waits else {}))
    nodes = node("n", labels={"zone": "a"}), node("m", labels={"zone": "b"})
    spaces = (
        ()
        if team is None
        else (namespace("default", team=team), namespace("other", team=team))
    )
    return assembled(*nodes, *spaces, one, two).snapshot


@pytest.mark.parametrize("waits", [True, False])
@pytest.mark.parametrize(("team", "expected"), [("a", {"m"}), ("b", {"m", "n"})])
def test_namespaces_are_meant_by_their_labels(team, expected, waits):
    found = by_team(team, waits=waits)
    problem = problem_of(found, Policy())

    fits = problem.shapes.fits[problem.shapes.of_leaf["default/waits", 0]]
    assert expected == {n.name for n, f in zip(found.nodes, fits, strict=True) if f}


def test_labels_of_namespaces_that_nobody_knows_let_a_gang_wait():
    (gang,) = by_team(None, waits=True).gangs

    assert gang.refused.facts["detail"] == (
        "pod waits, spec.affinity: namespaceSelector: namespaces are meant by their "
        "labels, and no Namespace is among the objects"
    )


def test_selectors_of_others_that_select_nobody_of_ours_are_not_said():
    there = keeping(affinity=apart(app="x"), labels={"app": "x"})
    found = neighbours(node("n"), there, pod("waits", labels={"app": "y"}))

    assert not any(leaf for leaves in found.values() for leaf in leaves)


def test_who_runs_keeps_its_rules_since_it_may_be_moved():
    rules = apart(app="x")
    there = keeping(affinity=rules, schedulerName="phalanx", labels={"app": "x"})
    found = neighbours(node("n"), there, pod("waits", labels={"app": "y"}))

    assert any(leaf.apart for leaves in found.values() for leaf in leaves)


@pytest.mark.parametrize("key", ["preferred", "live", "spread", "wanted"])
@pytest.mark.parametrize("ending", [{}, {"deletionTimestamp": "2026-10-01T10:00:00Z"}])
def test_what_a_label_is_called_changes_nothing_of_who_is_apart(key, ending):
    """
    Names of selectors are made of labels, and nobody reads them.
    """
    rule = {"topologyKey": "zone", "labelSelector": {"matchExpressions": [has(key)]}}
    there = pod("there", labels={key: "x"}, nodeName="n")
    there["metadata"] |= ending
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    waits = pod("waits", affinity={"podAntiAffinity": {required: [rule]}})
    found = neighbours(node("n"), there, waits)

    assert ((f"{key} in default",),) == tuple(s.selected for s in found["there"])


def has(key):
    return {"key": key, "operator": "Exists"}


def test_spread_is_read_with_its_policies():
    rule = {
        "topologyKey": "zone",
        "maxSkew": 2,
        "minDomains": 3,
        "whenUnsatisfiable": "DoNotSchedule",
        "nodeAffinityPolicy": "Ignore",
        "nodeTaintsPolicy": "Honor",
        "labelSelector": {"matchLabels": {"app": "x"}},
        "matchLabelKeys": ["v"],
    }
    labels = {"app": "x", "v": "1"}
    waits = pod("waits", labels=labels, topologySpreadConstraints=[rule])
    (said,) = neighbours(waits)["waits"]

    name = "live app=x, v=1 in default"
    assert (Spread(name, "zone", 2, 3, by_affinity=False, by_taints=True),) == (
        said.spread
    )
    assert (name,) == said.selected


def test_who_is_near_to_several_is_near_to_one_that_all_select():
    word = "requiredDuringSchedulingIgnoredDuringExecution"
    terms = [
        {"topologyKey": key, "labelSelector": {"matchLabels": labels}}
        for key, labels in (("zone", {"app": "x"}), ("rack", {"tier": "f"}))
    ]
    waits = pod("waits", affinity={"podAffinity": {word: terms}})
    both = pod("both", labels={"app": "x", "tier": "f"})
    one = pod("one", labels={"app": "x"})
    found = neighbours(waits, both, one)

    near = found["waits"][0].near
    assert ("rack", "zone") == near.keys
    assert (near.pods,) == found["both"][0].selected
    assert () == found["one"][0].selected
