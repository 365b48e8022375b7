"""
What several faults are made of: records seen otherwise than they are.
"""

from dataclasses import replace

from tests.faults.switch import Change, Switch, always, both, saying, switch


def tree_nodes(**changes: Change) -> Change:
    """
    See a standing whose tree nodes are changed, by field.
    """
    return _each("nodes", changes)


def leaves(**changes: Change) -> Change:
    """
    See a standing whose leaves are changed, by field.
    """
    return _each("leaves", changes)


def gangs(**changes: Change) -> Change:
    """
    See a snapshot whose gangs are changed, by field.
    """
    return _each("gangs", changes)


def machines(**changes: Change) -> Change:
    """
    See a snapshot whose nodes are changed, by field.
    """
    return _each("nodes", changes)


def _each(field, changes):
    def change(record):
        parts = tuple(
            replace(part, **{name: make(part) for name, make in changes.items()})
            for part in getattr(record, field)
        )
        return replace(record, **{field: parts})

    return change


def tiers_by(rank) -> Switch:
    """
    Sort the tiers anew; those ranked -1 are dropped.
    """

    def change(keys, *_):
        return tuple(sorted((k for k in keys if rank(k) >= 0), key=rank))

    return switch("solver.score.tiers:tier_keys", saying(change))


def no_reason(target: str) -> Switch:
    """
    Let one check find nothing.
    """
    return switch(target, always(None))


def _only_first_in_row(old):
    """
    Let greedy try the first K children and no other.
    """

    def make(self, hand, at, _order, mask):
        node = hand.state.nodes[at]
        old(self, hand, at, list(node.children[: node.min_groups or None]), mask)

    return make


FIRST_CHILDREN_BY_HAND = switch(
    "solver.place.place_gang:_Row.__init__", _only_first_in_row
)
NO_PATTERNS = both(
    switch("solver.patterns.pattern_plan:may_be_filled", always(value=False)),
    switch("solver.search.tier_search:may_be_filled", always(value=False)),
)
NO_REPAIR = both(
    switch("solver.search.tier_model:Model.refine", always(value=False)), NO_PATTERNS
)
