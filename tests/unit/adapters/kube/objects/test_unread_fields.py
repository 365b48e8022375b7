"""
What is not read is counted, and named as somebody would say it.
"""

import pytest

from adapters.kube.objects.unread_fields import (
    PLACES,
    counted_kinds,
    is_unread,
    unread_words,
)


@pytest.mark.parametrize(
    ("kind", "number", "said"),
    [
        ("Cohort", 1, "1 Cohort"),
        ("Cohort", 2, "2 Cohorts"),
        ("WorkloadPriorityClass", 3, "3 WorkloadPriorityClasses"),
        ("Numatopology", 2, "2 Numatopologies"),
        ("Topology of k/v1", 2, "2 Topology of k/v1"),
    ],
)
def test_kinds_are_counted(kind, number, said):
    assert [said] == list(counted_kinds({kind: number}))


def test_a_spark_application_on_a_schedule_is_known_without_a_template_of_pods():
    version = "sparkoperator.k8s.io/v1beta2"

    assert is_unread(version, "ScheduledSparkApplication")
    assert not is_unread(version, "SparkApplication")


@pytest.mark.parametrize("kind", ["TaskRun", "PipelineRun"])
def test_runs_of_tekton_are_known_without_a_template_of_pods(kind):
    assert is_unread("tekton.dev/v1", kind)
    assert is_unread("flink.apache.org/v1beta1", "FlinkDeployment")


@pytest.mark.parametrize(("key", "place"), PLACES.items())
def test_a_word_of_a_gang_in_the_wrong_place_is_named(key, place):
    said = {key: "2"}
    by_place = {
        "a label": unread_words(said, {}, {}),
        "an annotation": unread_words({}, said, {}),
    }
    assert () == by_place.pop(place)
    ((wrong, named),) = by_place.items()

    assert (f"{key} as {wrong}",) == named
    assert () == unread_words(said, said, {})
