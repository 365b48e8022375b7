"""
Lists that every round evaluates for each node or pod there is: they have an end.
"""

import pytest

from adapters.kube.objects.pod_reader import pod_record
from tests.helpers.kube.group_objects import members
from tests.helpers.kube.manifests import assembled, node, obj, pod, pod_group

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
AROUND = "spec.affinity or spec.topologySpreadConstraints: it has "


def expressions(number, values=("v",)):
    return [
        {"key": f"k{at}", "operator": "NotIn", "values": list(values)}
        for at in range(number)
    ]


def on_nodes(*terms):
    found = [{"matchExpressions": rules} for rules in terms]
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": found}}}}


def term(number, rules=1, **more):
    selector = {"matchExpressions": expressions(rules, [str(number)])}
    return {"labelSelector": selector, "topologyKey": "zone", **more}


def both(*terms):
    return {"affinity": {"podAntiAffinity": {REQUIRED: terms}}}


def around(number, **more):
    return both(*(term(at, **more) for at in range(number)))


def rather(number):
    terms = [{"weight": 1, "podAffinityTerm": term(at)} for at in range(number)]
    return {"affinity": {"podAffinity": {PREFERRED: terms}}}


def spread(number):
    rules = [
        {"maxSkew": 1 + at, "topologyKey": "zone", "labelSelector": {}}
        for at in range(number)
    ]
    return {"topologySpreadConstraints": rules}


def tolerating(number):
    found = [{"key": f"k{at}", "operator": "Exists"} for at in range(number)]
    return {"tolerations": found}


SPACES = [f"s{at}" for at in range(1_001)]
TERMS = f"spec.affinity.nodeAffinity.{REQUIRED}: it has "
LONG = {
    "tolerations": (tolerating, 256, "spec.tolerations: it has 257 entries"),
    "rules of nodes": (lambda n: on_nodes(expressions(n)), 256, TERMS),
    "terms of nodes": (
        lambda n: on_nodes(*([rule] for rule in expressions(n))),
        256,
        TERMS,
    ),
    "values": (
        lambda n: on_nodes(expressions(1, map(str, range(n)))),
        10_000,
        TERMS,
    ),
    "terms of pods": (around, 16, AROUND),
    "rules of pods": (lambda n: around(1, rules=n), 256, "spec.affinity.podAnti"),
    "rules of all terms": (lambda n: both(term(0, 200), term(1, n - 200)), 256, AROUND),
    "namespaces": (lambda n: around(1, namespaces=SPACES[:n]), 1_000, AROUND),
    "preferences": (rather, 64, AROUND),
    "spread": (spread, 16, AROUND),
}


@pytest.mark.parametrize("case", LONG)
def test_what_is_evaluated_everywhere_has_an_end(case):
    make, most, why = LONG[case]

    (fault,) = pod_record(pod(**make(most + 1))).invalid

    assert not pod_record(pod(**make(most))).invalid
    assert fault.startswith(why)


def test_a_pod_of_many_terms_takes_no_place_of_others():
    """
    Too many selectors are refused for who has the most of them, whatever its name.
    """
    many = [
        pod(f"a-{at}", labels={"scheduling.x-k8s.io/pod-group": "a"}, **around(16))
        for at in range(200)
    ]
    for at, each in enumerate(many):
        for one in each["spec"]["affinity"]["podAntiAffinity"][REQUIRED]:
            one["namespaces"] = [f"s{at}"]
    few = pod("z", **around(2))
    made = assembled(node(), *many, few, pod_group("a", 200)).snapshot

    refused = {gang.key: gang.refused for gang in made.gangs}

    assert refused["default/z"] is None
    assert "selectors of pods" in str(refused["default/a"])


def test_a_budget_of_many_rules_allows_nothing():
    spec = {"selector": {"matchExpressions": expressions(257)}, "maxUnavailable": 5}
    budget = obj("policy/v1", "PodDisruptionBudget", "pdb", "default", spec=spec)
    runs = members(0, 1, nodeName="n", status={"phase": "Running"})
    made = assembled(node(), *runs, pod_group("g", 1), budget).snapshot

    (found,) = made.budgets

    assert 0 == found.allowed
    assert any("spec.selector: it has 257 entries" in said for said in made.warnings)


@pytest.mark.timeout(60)  # where sidecars are summed for each other one, it is not done
def test_sidecars_of_many_resources_are_refused():
    sidecars = [
        {
            "name": f"c{at}",
            "restartPolicy": "Always",
            "resources": {"requests": {f"example.com/r{at}": "1"}},
        }
        for at in range(20_000)
    ]

    (fault,) = pod_record(pod(initContainers=sidecars)).uncounted

    assert "resources are asked for, more than 200" in fault
