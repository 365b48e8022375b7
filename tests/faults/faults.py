"""
Faults: mistakes one could make in the solver, each with the scenarios it spoils.

A fault that no scenario catches is a rule without a scenario; see README.md of this
folder for how to look for one.
"""

from tests.faults import (
    choices,
    devices,
    eviction_rights,
    evictions,
    evictions_by_hand,
    gangs,
    greedy,
    groups,
    guarantee,
    neighbours,
    nodes,
    packing,
    priority,
    queues,
    reasons,
    reservations,
    search,
    topology,
    victims,
    waiting,
)
from tests.faults.fault import Fault

FAULTS: tuple[Fault, ...] = (
    *gangs.FAULTS,
    *groups.FAULTS,
    *nodes.FAULTS,
    *neighbours.FAULTS,
    *queues.FAULTS,
    *priority.FAULTS,
    *topology.FAULTS,
    *search.FAULTS,
    *choices.FAULTS,
    *packing.FAULTS,
    *devices.FAULTS,
    *reasons.FAULTS,
    *greedy.FAULTS,
    *eviction_rights.FAULTS,
    *evictions.FAULTS,
    *victims.FAULTS,
    *guarantee.FAULTS,
    *reservations.FAULTS,
    *evictions_by_hand.FAULTS,
    *waiting.FAULTS,
)
