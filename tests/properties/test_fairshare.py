"""
What is always true of fair shares.
"""

from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as st

from models.resources import GPU
from solver.shares.fair_share import fair_shares
from tests.helpers.build import queue

amounts = st.integers(0, 12)
maybe = st.none() | amounts


@st.composite
def forests(draw):
    """
    Draw queues in up to three levels, with a demand for each leaf.
    """
    names = [f"q{i}" for i in range(draw(st.integers(1, 7)))]
    queues = []
    for at, name in enumerate(names):
        above = draw(st.sampled_from([None, *names[:at]]))
        queues.append(
            queue(
                name,
                above,
                quota=draw(maybe),
                limit=draw(maybe),
                weight=draw(st.integers(0, 4)),
                priority=draw(st.sampled_from([50, 100])),
            )
        )
    parents = {made.parent for made in queues}
    wanted = {name: {GPU: draw(amounts)} for name in names if name not in parents}
    return queues, wanted


totals = st.integers(0, 40)


def shares_of(queues, total, wanted):
    shares = fair_shares(queues, {GPU: total}, wanted)
    return {name: row[GPU] for name, row in shares.items()}


def levels_of(queues, wanted):
    """
    List parents with their children, what each asks for, and its first share.
    """
    children = defaultdict(list)
    for made in queues:
        children[made.parent].append(made)

    def demand(name):
        own = wanted.get(name, {}).get(GPU, 0)
        return own + sum(demand(child.name) for child in children[name])

    for parent, level in list(children.items()):
        wants = {}
        for made in level:
            limit = made.rule(GPU).limit
            asked = demand(made.name)
            wants[made.name] = asked if limit is None else min(limit, asked)
        yield parent, level, wants


def first_shares(level, wants, total):
    quotas = {made.name: made.rule(GPU).quota for made in level}
    return {
        name: min(total if quotas[name] is None else quotas[name], want)
        for name, want in wants.items()
    }


@given(forests(), totals, st.randoms())
def test_shares_do_not_depend_on_the_order_of_the_input(forest, total, random):
    queues, wanted = forest
    mixed = queues.copy()
    random.shuffle(mixed)
    turned = dict(reversed(wanted.items()))

    assert shares_of(queues, total, wanted) == shares_of(mixed, total, turned)


@given(forests(), totals)
def test_nobody_gets_more_than_asked_for_or_less_than_the_first_share(forest, total):
    queues, wanted = forest
    shares = shares_of(queues, total, wanted)

    for parent, level, wants in levels_of(queues, wanted):
        have = total if parent is None else shares[parent]
        first = first_shares(level, wants, have)
        for made in level:
            assert 0 <= first[made.name] <= shares[made.name] <= wants[made.name]


@given(forests(), totals)
def test_siblings_share_the_total_or_their_quotas(forest, total):
    queues, wanted = forest
    shares = shares_of(queues, total, wanted)

    for parent, level, wants in levels_of(queues, wanted):
        have = total if parent is None else shares[parent]
        first = sum(first_shares(level, wants, have).values())
        assert sum(shares[made.name] for made in level) <= max(have, first)


@given(forests(), totals)
def test_nothing_is_left_while_somebody_with_weight_wants_more(forest, total):
    queues, wanted = forest
    shares = shares_of(queues, total, wanted)

    for parent, level, wants in levels_of(queues, wanted):
        have = total if parent is None else shares[parent]
        left = have - sum(shares[made.name] for made in level)
        hungry = [
            made.name
            for made in level
            if made.rule(GPU).weight > 0 and shares[made.name] < wants[made.name]
        ]
        assert left <= 0 or not hungry


@given(forests(), totals)
def test_a_lower_band_gets_only_what_higher_bands_do_not_want(forest, total):
    queues, wanted = forest
    shares = shares_of(queues, total, wanted)

    for parent, level, wants in levels_of(queues, wanted):
        have = total if parent is None else shares[parent]
        first = first_shares(level, wants, have)
        gained = [m for m in level if shares[m.name] > first[m.name]]
        for low in gained:
            for high in level:
                if high.priority > low.priority and high.rule(GPU).weight > 0:
                    assert shares[high.name] == wants[high.name]


@given(forests(), totals)
def test_shares_of_a_band_differ_from_its_weights_by_less_than_two_units(forest, total):
    """
    Of two hungry queues in a band, neither gained two units more than its weight.

    Only where nobody of the level was satisfied: every further round may move one.
    """
    queues, wanted = forest
    shares = shares_of(queues, total, wanted)

    for parent, level, wants in levels_of(queues, wanted):
        have = total if parent is None else shares[parent]
        first = first_shares(level, wants, have)
        if any(wants[m.name] <= shares[m.name] for m in level):
            continue
        for one in level:
            for other in level:
                if one.priority == other.priority and other.rule(GPU).weight:
                    gain = shares[one.name] - first[one.name]
                    fair = shares[other.name] - first[other.name] + 2
                    weights = one.rule(GPU).weight, other.rule(GPU).weight
                    assert gain < 2 + weights[0] * fair / weights[1]


@given(forests(), totals)
def test_the_sum_of_siblings_grows_with_the_total(forest, total):
    queues, wanted = forest
    roots = [made for made in queues if made.parent is None]

    less, more = (shares_of(queues, total + n, wanted) for n in (0, 1))

    assert sum(less[m.name] for m in roots) <= sum(more[m.name] for m in roots)


@given(forests(), totals, st.integers(1, 5))
def test_a_total_beyond_all_demand_satisfies_everybody_with_weight(
    forest, total, extra
):
    queues, wanted = forest
    asked = sum(row[GPU] for row in wanted.values())
    quotas = sum(made.rule(GPU).quota or 0 for made in queues)
    shares = shares_of(queues, total + asked + quotas + extra, wanted)

    for parent, level, wants in levels_of(queues, wanted):
        if parent is None:
            for made in level:
                assert (
                    not made.rule(GPU).weight or shares[made.name] == wants[made.name]
                )
