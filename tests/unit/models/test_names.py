"""
The nearest known name, also among very many.
"""

import pytest

from models.names import nearest


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("reserch", "research"),
        ("Research", "research"),
        ("xyzzy", ""),
        ("", ""),
        ("r" * 10**6, ""),
    ],
)
def test_the_nearest_name_is_found_if_one_is_near(word, found):
    assert found == nearest(word, ["research", "product"])


def test_among_very_many_names_one_that_begins_alike_is_found():
    names = [f"other-{i}" for i in range(100_000)]

    assert "research" == nearest("reserch", [*names, "research"])


def test_a_namespace_makes_no_two_names_alike():
    known = ["default/w7", "default/train", "ml/trial"]

    assert "" == nearest("default/nope", known)
    assert "default/train" == nearest("default/trian", known)
    assert "default/train" == nearest("defualt/train", known)


def test_a_word_without_the_domain_of_a_resource_means_that_one():
    known = ["cpu", "memory", "nvidia.com/gpu"]

    assert "nvidia.com/gpu" == nearest("gpu", known)
    assert "amd.com/gpu" == nearest("gpu", [*known, "amd.com/gpu"])
