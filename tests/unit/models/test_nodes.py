"""
Labels as numbers, read as Kubernetes reads them.
"""

import pytest

from models.nodes import LabelRule


@pytest.mark.parametrize(
    ("label", "is_more", "is_less"),
    [
        ("4", True, False),
        ("+4", True, False),
        ("2", False, True),
        ("-7", False, True),
        ("3", False, False),
        ("", False, False),
        ("four", False, False),
        ("²", False, False),
        ("--4", False, False),
        ("4.5", False, False),
        ("9" * 5000, False, False),
        (None, False, False),
    ],
)
def test_a_label_that_is_no_number_is_neither_more_nor_less(label, is_more, is_less):
    labels = {} if label is None else {"size": label}
    more = LabelRule(key="size", operator="Gt", values=("3",))
    less = LabelRule(key="size", operator="Lt", values=("3",))

    assert (is_more, is_less) == (more.holds(labels), less.holds(labels))
