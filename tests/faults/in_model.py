"""
Switches that spoil the model of evictions, where greedy does not answer before it.
"""

from tests.faults.switch import Switch, always, asked, both, switch

NOTHING_BY_HAND = both(
    switch("solver.evict.open_step:Opened.by_hand", lambda _old: lambda self, *_: self),
    switch("solver.evict.lose_less:losing_less", always(())),
)
"""
The model has to find by itself who leaves.
"""


def in_model(*switches: Switch) -> Switch:
    """
    Spoil the model where greedy does not answer before it.
    """
    return asked(NOTHING_BY_HAND, *switches)


def dropped(target: str) -> Switch:
    """
    Leave one family of constraints out of the model.
    """
    return in_model(switch(target, always(None)))
