"""
What is not read is counted, and named as somebody would say it.
"""

import pytest

from adapters.kube.objects.unread_fields import counted_kinds, is_unread


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
