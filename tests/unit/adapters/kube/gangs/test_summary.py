"""
What is said of a cluster before its plan: of other schedulers, and of nobody else.
"""

from adapters.kube.gangs.summary import Summary
from tests.helpers.kube.manifests import assembled, obj, pod


def test_pods_of_another_node_pool_are_not_those_of_another_scheduler():
    both = {"phalanx": 2, "volcano": 3}

    assert [] == [*Summary(schedulers=("phalanx",), ignored={"phalanx": 2}).sentences()]
    assert [] == [*Summary(schedulers=("phalanx",), load={"phalanx": 2}).sentences()]
    (said,) = Summary(schedulers=("phalanx",), ignored=both, load=both).sentences()
    assert said == (
        "pods of other schedulers: 3 waiting, which are ignored, 3 on nodes, which are "
        "load; to plan them too: --scheduler-name phalanx --scheduler-name volcano"
    )


def test_of_one_gang_a_few_warnings_are_said():
    parents = [{"name": f"p{at}", "minMember": 1} for at in range(100)]
    leaves = [
        {"name": f"c{at}", "parent": f"p{at}", "minMember": 1} for at in range(100)
    ]
    spec = {"subGroups": [*parents, *leaves]}
    group = obj("scheduling.run.ai/v2alpha2", "PodGroup", "g", "default", spec=spec)
    member = pod(
        annotations={"pod-group-name": "g"},
        labels={"kai.scheduler/subgroup-name": "c0"},
    )

    warnings = assembled(group, member).snapshot.warnings

    assert len(warnings) == 21
    assert warnings[-1] == "default/g: 80 more of these are not shown"
