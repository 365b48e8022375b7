"""
The part of the contract that is about days: traces, and what holding may cost on them.
"""

from collections.abc import Mapping
from typing import Literal

from benchmarks.contract_parts import Part
from models.documents.written import Seconds


class Burst(Part):
    """
    When most jobs come: ``part`` of them while it ``lasts``, from each midnight on.
    """

    lasts: Seconds
    part: float


class HoldingReach(Part):
    """
    What the default policy must reach against the same without heads, by the solver.

    ``mean`` is of the mean wait on each trace, ``tail`` of the longest waits and of the
    99th percentile of large gangs on the mean of all; ``held`` is a part of GPU time.
    """

    mean: float
    tail: float
    held: float


class DayTrace(Part):
    """
    One trace: how large the cluster, how much work for it, of which mix, for how long.

    ``load`` is the work of all jobs over what the cluster does until the last of them
    comes.  Settings are chosen on the traces of one ``half`` and judged on the other.
    """

    name: str
    half: Literal["a", "b"]
    seed: int
    nodes: int
    load: float
    mix: str
    days: int
    queues: int = 0


class Days(Part):
    """
    Traces of a few days each; sizes and run times are drawn, loads are kept.

    ``durations`` are the median run time of a gang of so many GPUs and the spread of
    its logarithm, cut between ``shortest`` and ``longest``.
    """

    kind: Literal["Days"]
    name: str
    about: str
    every: Seconds
    per_node: int
    durations: Mapping[int, tuple[Seconds, float]]
    shortest: Seconds
    longest: Seconds
    burst: Burst
    reach: HoldingReach
    mixes: Mapping[str, Mapping[int, float]]
    traces: tuple[DayTrace, ...]
