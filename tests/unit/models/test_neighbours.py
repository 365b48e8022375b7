"""
RulePairs of selectors and topology keys, found by what selects a pod.
"""

from random import Random

import pytest

from models.neighbours import Neighbours, ReachedVolumes, RulePairs, linked_kinds


class Counted(RulePairs):
    """
    RulePairs that count how often they are asked for one.
    """

    asked = 0

    def __contains__(self, pair):
        type(self).asked += 1
        return super().__contains__(pair)


@pytest.mark.parametrize("seed", range(20))
def test_pairs_of_a_pod_are_those_whose_selector_selects_it(seed):
    rnd = Random(seed)
    names = [f"s{at}" for at in range(6)]
    some = {(rnd.choice(names), rnd.choice(("zone", "host"))) for _ in range(6)}
    said = Neighbours(selected=tuple(sorted(rnd.sample(names, rnd.randint(0, 4)))))

    assert {pair for pair in some if pair[0] in said.selected} == {
        *RulePairs(some).of(said)
    }


def test_a_pod_is_asked_about_its_own_selectors_alone_however_many_there_are():
    many = Counted((f"s{at}", key) for at in range(1000) for key in ("zone", "host"))
    found = many.of(Neighbours(selected=("s1", "s2")))

    assert 4 == len(found) == many.asked


def test_kinds_of_claims_are_linked_by_way_of_others():
    sets = [("b", "c"), ("d",), ("a", "b"), ("e", "f")]
    found = linked_kinds(ReachedVolumes(f"set-{kinds}", kinds) for kinds in sets)

    assert {"a": "a", "b": "a", "c": "a", "d": "d", "e": "e", "f": "e"} == found
