"""
Faults: mistakes one could make in the solver, each with the scenarios it spoils.

A fault that no scenario catches is a rule without a scenario; see README.md of this
folder for how to look for one.
"""

from tests.faults import (
    gangs,
    greedy,
    groups,
    nodes,
    packing,
    priority,
    queues,
    reasons,
    search,
    topology,
)
from tests.faults.fault import Fault

FAULTS: tuple[Fault, ...] = (
    *gangs.FAULTS,
    *groups.FAULTS,
    *nodes.FAULTS,
    *queues.FAULTS,
    *priority.FAULTS,
    *topology.FAULTS,
    *search.FAULTS,
    *packing.FAULTS,
    *reasons.FAULTS,
    *greedy.FAULTS,
)
