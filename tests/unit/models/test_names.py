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
