"""
Names of resources that are ours, as people read them.
"""

import pytest

from models.why.resource_words import in_words


@pytest.mark.parametrize(
    ("resource", "words"),
    [
        ("free-volumes-local/10Gi", "volumes of class local (10Gi or larger)"),
        (
            "free-volumes-local/10Gi-1",
            "volumes of class local (10Gi or larger, of some)",
        ),
        ("attachable-volumes-csi-ebs", "slots for volumes of driver ebs"),
        ("attachable-volumes-csi-ebs/ml/c", "slots for volumes of driver ebs"),
        ("host-port/TCP/80", "host port 80/TCP"),
        ("nvidia.com/gpu", "nvidia.com/gpu"),
    ],
)
def test_names_of_ours_are_said_in_words(resource, words):
    assert words == in_words(resource)


def test_one_of_them_is_said_as_one():
    assert "slot for volumes of driver ebs" == in_words("attachable-volumes-csi-ebs", 1)
