"""
A Job of Volcano without pods is planned as its webhook and controller would submit it.
"""

import pytest

from models.gangs import pod_sets
from tests.helpers.kube.manifests import assembled, node, obj


def template(**spec):
    return {"spec": {"containers": [{"name": "main"}], **spec}}


def task(replicas=2, /, **said):
    return {"replicas": replicas, "template": template(), **said}


def gang_of(tasks, annotations=None, beside=(), **spec):
    """
    Plan one Job of Volcano with these tasks, and give its gang.
    """
    job = obj("batch.volcano.sh/v1alpha1", "Job", "train", "ml")
    job["metadata"]["annotations"] = annotations or {}
    job["spec"] = {"tasks": tasks, **spec}
    classes = [
        {**obj("scheduling.k8s.io/v1", "PriorityClass", name, ""), "value": value}
        for name, value in (("low", 10), ("high", 1000))
    ]
    made = assembled(node(), job, *classes, *beside, schedulers=("volcano",)).snapshot
    return next((gang for gang in made.gangs if gang.name == "train"), None)


def least(gang):
    tree = gang.tree
    return getattr(tree, "min_pods", None) or tree.minimum


def sizes(gang):
    return [len(leaf.pods) for leaf in pod_sets(gang.tree)]


def test_its_priority_is_its_own_where_its_tasks_have_others():
    tasks = [
        task(1, name="driver", template=template(priorityClassName="high")),
        task(3, name="worker"),
    ]
    gang = gang_of(tasks, priorityClassName="low", minAvailable=2)

    assert (None, 10, 2) == (gang.refused, gang.priority, least(gang))
    driver, worker = pod_sets(gang.tree)
    assert (1, "driver") == (driver.minimum, *worker.after)


def test_it_says_itself_that_it_may_not_be_evicted():
    word = {"volcano.sh/preemptable": "false"}

    assert gang_of([task(name="a")], word).preemptible is False


@pytest.mark.parametrize(
    ("tasks", "spec", "minimum"),
    [
        ([task(4, name="a", minAvailable=2)], {}, 2),
        ([task(4, name="a", minAvailable=2), task(3, name="b")], {}, 5),
        ([task(4, name="a")], {"minAvailable": 0}, 4),
        ([task(4, name="a")], {"minAvailable": 1}, 1),
    ],
)
def test_what_it_needs_is_the_sum_over_its_tasks_where_it_says_nothing(
    tasks, spec, minimum
):
    assert minimum == least(gang_of(tasks, **spec))


def test_a_task_without_a_name_has_its_pods_too():
    gang = gang_of([task(1, name="a"), task(3)])

    assert (4, [1, 3]) == (least(gang), sizes(gang))


def test_a_task_that_says_no_number_has_no_pods():
    gang = gang_of([task(2, name="a"), {"name": "b", "template": template()}])

    assert (2, [2]) == (least(gang), sizes(gang))


def test_a_pod_group_of_its_name_is_told_what_the_job_says():
    spec = {"minMember": 1, "queue": "q", "priorityClassName": "high"}
    group = obj("scheduling.volcano.sh/v1beta1", "PodGroup", "train", "ml", spec=spec)
    gang = gang_of([task(3, name="a")], beside=[group])

    assert (3, 0, "q") == (least(gang), gang.priority, gang.queue)


def test_a_pod_group_of_its_name_that_cannot_be_read_is_refused():
    group = obj("scheduling.volcano.sh/v1beta1", "PodGroup", "train", "ml")
    gang = gang_of([task(3, name="a")], beside=[{**group, "spec": 3}])

    assert gang.refused is not None
