"""
The smallest core of rules that know each other only by what passes under them.
"""

from itertools import combinations

import pytest

from solver.why.smallest_core import smallest_core


def passes(*cores):
    asked = []

    def ask(rules):
        asked.append(rules)
        return not any(set(core) <= rules for core in cores)

    ask.asked = asked
    return ask


def test_of_two_cores_the_smaller_is_given():
    assert frozenset("d") == smallest_core("abcd", passes("abc", "d"))


def test_of_equal_cores_the_one_named_first_is_given():
    assert frozenset("ab") == smallest_core("abcd", passes("cd", "ab"))


def test_what_never_passes_has_no_rule_in_its_core():
    assert frozenset() == smallest_core("abc", lambda _: False)


def test_all_rules_are_the_core_where_each_is_needed():
    assert frozenset("abc") == smallest_core("abc", passes("abc"))


def test_few_questions_are_asked_where_rules_do_not_matter():
    ask = passes("jk")

    assert frozenset("jk") == smallest_core("abcdefghijk", ask)
    assert len(ask.asked) < 60


def test_no_two_rules_are_asked_about_together_where_one_forbids():
    ask = passes("d", "bc")

    assert frozenset("d") == smallest_core("abcdef", ask)
    assert max(map(len, ask.asked)) == 1


@pytest.mark.parametrize("seed", range(30))
def test_no_smaller_set_forbids(seed):
    rules = "abcdef"
    cores = list(combinations(rules, 2 + seed % 3))[seed % 7 :: 4]
    ask = passes(*cores)
    core = smallest_core(rules, ask)

    assert not ask(core)
    assert all(ask(core - {rule}) for rule in core)
    assert len(core) == min(map(len, cores))
