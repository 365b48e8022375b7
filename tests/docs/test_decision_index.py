"""
The table of decisions names every page once, by its own title.
"""

from tests.docs.decision_index import PAGE, fresh, titles


def test_the_table_lists_every_decision_by_its_title():
    assert PAGE.read_text(encoding="utf-8") == fresh(), (
        "run python -m tests.docs.rewrite and look at the difference"
    )


def test_every_decision_has_a_number_of_its_own():
    numbers = [number for number, _, _ in titles()]

    assert sorted({*numbers}) == numbers
