"""
Budgets of disruption and limits of run time, as pods and policies say them.
"""

import pytest

from tests.helpers.kube.group_objects import members
from tests.helpers.kube.manifests import (
    assembled,
    gang_of,
    in_group,
    obj,
    pod,
    pod_group,
)


def budget(**fields):
    status = fields.pop("status", {})
    spec = {"selector": {"matchLabels": in_group("g")}, **fields}
    return obj(
        "policy/v1", "PodDisruptionBudget", "pdb", "default", spec=spec, status=status
    )


BUDGETS = {
    "as the cluster says": (budget(status={"disruptionsAllowed": 2}), 2),
    "minAvailable": (budget(minAvailable=1), 2),
    "minAvailable as a share": (budget(minAvailable="50%"), 1),
    "maxUnavailable": (budget(maxUnavailable=2), 1),
    "what cannot be read": (budget(maxUnavailable="some"), 0),
}


@pytest.mark.parametrize("case", BUDGETS)
def test_a_budget_says_how_many_pods_may_still_be_disturbed(case):
    raw, expected = BUDGETS[case]
    running = members(0, 1, 2, nodeName="n", status={"phase": "Running"})
    made = assembled(*running, *members(3), pod_group("g", 1), raw).snapshot

    (found,) = made.budgets
    assert ("default.pdb", ("default/g",)) == (found.name, found.gangs)
    assert expected == found.allowed


def test_of_very_many_budgets_over_the_same_gangs_the_tightest_holds():
    allowed = [9, 3, *range(4, 3_000)]
    many = [budget(status={"disruptionsAllowed": number}) for number in allowed]
    for at, each in enumerate(many):
        each["metadata"]["name"] = f"b{at}"
    running = members(0, 1, 2, nodeName="n", status={"phase": "Running"})

    (found,) = assembled(*running, pod_group("g", 1), *many).snapshot.budgets

    assert ("default.b1", 3) == (found.name, found.allowed)


KUEUE_LIMIT = "kueue.x-k8s.io/max-exec-time-seconds"


def limited(number, *, deadline=None, label=None):
    one = pod(f"g-{number}", labels=in_group("g"))
    if deadline is not None:
        one["spec"]["activeDeadlineSeconds"] = deadline
    if label is not None:
        one["metadata"]["labels"][KUEUE_LIMIT] = label
    return one


@pytest.mark.parametrize(
    ("first", "second", "longest"),
    [
        ({"deadline": 60}, {"deadline": 600}, 600),
        ({"deadline": 60}, {}, None),
        ({"deadline": 60}, {"label": "90"}, 90),
        ({"deadline": 60, "label": "30"}, {"label": "20"}, 30),
        ({"label": "much"}, {"deadline": 60}, None),
        ({"deadline": True}, {"deadline": 60}, None),
    ],
)
def test_a_gang_runs_no_longer_than_the_longest_limit_of_all_its_pods(
    first, second, longest
):
    pods = [limited(0, **first), limited(1, **second)]

    assert longest == gang_of(*pods, pod_group("g", 2)).max_runtime
