"""
Tuning: the numbers that trade effort for quality, in one place.

None of them is a rule: any value gives plans that hold, with true bounds.  Each has its
unit, why it is what it is, and the row of the bench that exercises it most and is first
to notice when it is wrong.  ``phalanx bench ROW --tuning NAME=VALUE`` tries another.
Rules have their place in the policy and in ``models``.
"""

from dataclasses import dataclass, field
from typing import TypeVar

_T = TypeVar("_T")
_PODS = "quality/priority-matters"


def _is(value: _T, unit: str, why: str, row: str) -> _T:
    """
    Give a field its value, and what is known of it.
    """
    made: _T = field(default=value, metadata={"unit": unit, "why": why, "row": row})
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """
    Placing gangs one by one.
    """

    tries: int = _is(
        40,
        "tries",
        "ways to place one gang's tree; most need one, and few are found after many",
        "rounds/trees",
    )
    own_time: float = _is(0.2, "seconds", "of greedy, whatever is left", "rounds/10k")
    most_orders: int = _is(
        4, "orders", "of children, the one that failed last first", "rounds/trees"
    )
    most_domains: int = _is(
        64, "domains", "tried for a tree node, the tightest first", "rounds/topology"
    )
    gpu_weight: float = _is(
        4.0,
        "times",
        "what a free GPU counts beside other resources when nodes are called tight",
        "rounds/1k",
    )
    waste: float = _is(
        16.0,
        "cluster shares",
        "keeps pods without GPUs off nodes with GPUs, whatever is free there",
        "rounds/10k",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EvictTuning:
    """
    Making room by hand.
    """

    most_misses: int = _is(
        100, "gangs", "in vain, after which no more are tried", "evict/impossible"
    )
    most_domains: int = _is(
        4, "domains", "tried for a gang that must be in one", "evict/mixed"
    )
    per_gang: float = _is(
        0.01,
        "GPU-seconds",
        "what a gang that stops costs: next to nothing, so that it decides ties",
        "evict/many-small",
    )
    per_pod: float = _is(
        0.0001,
        "GPU-seconds",
        "what a pod that leaves costs: less than a gang",
        "evict/many-small",
    )
    per_band: float = _is(
        0.000001,
        "GPU-seconds",
        "what a pod costs for each band it is higher: less than a pod",
        "quality/victims",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Encode:
    """
    The size of the model.
    """

    most_classes: int = _is(
        600,
        "node classes",
        "more are merged: the model grows with classes times shapes",
        "rounds/crowd",
    )
    most_domains: int = _is(
        16, "domains", "from which they are left out first", "rounds/topology"
    )
    most_parts: int = _is(
        64,
        "domains",
        "of a key that neighbours ask for; of more, as of hosts, classes go over many",
        "rounds/topology",
    )
    most_choices: int = _is(
        512,
        "choices",
        "of what leaves a node together; nodes with more are crowded",
        "evict/mixed-4k",
    )
    most_linked: int = _is(
        16,
        "choices",
        "the same where gangs lie on several nodes: none of these can be left out",
        "evict/scattered",
    )
    most_first_nodes: int = _is(
        100,
        "nodes",
        "with room now for those for whom nobody may leave, to be told apart",
        "evict/mixed",
    )
    most_sums: int = _is(
        4096,
        "steps",
        "up to which sums of requests are listed, so that room is cut to what fits",
        "evict/many-small",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Decode:
    """
    Packing counts onto nodes.
    """

    exact_cells: int = _is(
        600,
        "nodes times items",
        "up to which a class is packed exactly where fitting by size fails",
        "rounds/10k",
    )
    exact_limit: float = _is(
        0.2, "deterministic units", "for packing one class", "rounds/10k"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """
    How the limit is spent, tier by tier and manner by manner.
    """

    kept_for_steps: float = _is(
        0.15, "part", "of the limit that a step leaves to those after it", "evict/mixed"
    )
    kept_for_losses: float = _is(
        0.2, "part", "of a step's limit for its bound of loss", "evict/scattered"
    )
    choices_per_unit: float = _is(
        10_000.0,
        "choices a unit or second",
        "that the model of evictions can take in; with more it is not built",
        "evict/mixed-4k",
    )
    many_nodes: int = _is(
        64,
        "nodes",
        "that somebody may leave, from which it is asked first what could be gained",
        "evict/impossible",
    )
    gain_part: float = _is(
        0.1, "part", "of what is left, for each tier to ask that", "evict/impossible"
    )
    step_part: float = _is(
        0.65,
        "part",
        "of what is left that a tier of a step with evictions may use up",
        "evict/mixed-4k",
    )
    tier_part: float = _is(
        0.5,
        "tiers",
        "what an open tier counts when the limit is shared: most close early",
        "rounds/1k",
    )
    most_open_cells: int = _is(
        3000, "nodes times gangs", "of a round asked as one model", "quality/victims"
    )
    most_open_tries: int = _is(
        10, "times", "another choice of evictions is frozen", "quality/victims"
    )
    most_short_lived: int = _is(
        4, "times", "starts are left out that would not last", "quality/victims"
    )
    open_part: float = _is(
        0.5, "part", "of what is left for a tier of the whole round", "quality/victims"
    )
    tie_break: float = _is(
        0.25,
        "part",
        "of a deterministic share for the last tier, which only breaks ties",
        "quality/small",
    )
    small_model: int = _is(
        400,
        "variables",
        "up to which a tier is closed without a gap, and each answer is decoded",
        "quality/small",
    )
    most_refinements: int = _is(
        6, "times", "a tier is solved with classes split once more", "rounds/crowd"
    )
    split_whole: int = _is(24, "pieces", "of a class not packed", "rounds/crowd")
    most_deals: int = _is(4, "times", "gangs are dealt by hand", "rounds/topology")
    first_piece: int = _is(5, "domains", "of the first piece", "rounds/racks")
    reopened: float = _is(1.5, "times", "more domains if in vain", "rounds/racks")
    piece: float = _is(0.3, "part", "of a share, for one piece", "rounds/racks")
    least_scoped: float = _is(
        0.45,
        "units or seconds",
        "of a tier's share from which counts by domain are asked where racks bind",
        "rounds/racks",
    )
    most_to_repeat: int = _is(2000, "units", "that get a second draft", "rounds/10k")
    few_pods: int = _is(40, "pods", "for which the model is better", _PODS)
    repacking: float = _is(0.8, "part", "of the limit for swaps at first", _PODS)
    steps_per_unit: float = _is(10_000.0, "swaps", "in one deterministic unit", _PODS)
    rows_per_unit: float = _is(
        100_000.0,
        "variables and rows",
        "of a model that is built again for one deterministic unit",
        "rounds/crowd",
    )
    many_variables: tuple[int, int] = _is(
        (2000, 20_000), "variables", "for one pass of presolve; for none", "rounds/10k"
    )
    nearby: float = _is(
        0.2, "part", "of a share for starts kept as they are, at most", "rounds/1k"
    )
    fine: float = _is(0.4, "part", "of the gap that is tried for first", "rounds/trees")
    patience: tuple[float, float] = _is(
        (0.5, 2.0), "times", "it took to come near, to go on; of starts", "rounds/10k"
    )
    least_patience: float = _is(
        0.2, "part", "of a share, for the same at least, in turns", "evict/mixed"
    )
    first_pass: tuple[float, ...] = _is(
        (0.4, 0.3, 0.2), "parts", "of a share in turn, for the fine gap", "quality/full"
    )
    pass_of_two: tuple[float, ...] = _is(
        (0.6, 0.4), "parts", "the same, of two manners", "quality/parts-victims"
    )
    second_pass: float = _is(
        0.2, "part", "of a share in each manner, for the whole gap", "quality/full"
    )
    lane_parts: tuple[float, ...] = _is(
        (0.7, 0.3), "parts", "of a share for a race's manners in a lane", "rounds/1k"
    )
    asked_after: float = _is(
        2.0, "times", "what building took must be left to ask a step", "evict/mixed"
    )
    probing: float = _is(
        0.5, "deterministic units", "for probing in presolve", "rounds/topology"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Patterns:
    """
    What whole nodes hold, chosen together.
    """

    sequences: int = _is(
        30,
        "times",
        "nodes are filled in another order before it is asked which patterns serve",
        "quality/openb-plan",
    )
    shapes_per_unit: float = _is(
        1_000_000.0,
        "shapes",
        "looked at while filling, for one deterministic unit",
        "quality/openb-plan",
    )
    many_shapes: int = _is(
        32, "shapes", "of pods; with more, counts can seldom be packed", "rounds/odd"
    )
    most_cells: int = _is(
        250_000, "nodes times shapes", "else filling takes too long", "rounds/10k"
    )
    most_patterns: int = _is(3000, "patterns", "the model chooses among", "rounds/odd")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spectral:
    """
    The bound on what is lost, by eigenvalues.
    """

    most_nodes: int = _is(
        600, "nodes", "with more the eigenvalues take too long", "evict/scattered"
    )
    probes: int = _is(
        8, "shifts", "that are tried after the first three", "evict/scattered"
    )
    cubes_per_unit: float = _is(
        5e9,
        "cubed nodes",
        "whose eigenvalues use up one deterministic unit",
        "evict/scattered",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Swaps:
    """
    Swaps of single pods.
    """

    patience: int = _is(2000, "swaps", "after which another pod is tried", _PODS)
    shortest: int = _is(10, "swaps", "for which a moved pod stays, least", _PODS)
    longest: int = _is(20, "swaps", "for which it stays, at most", _PODS)
    most_pairs: int = _is(2**16, "pairs", "of pods compared for one swap", _PODS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explain:
    """
    Saying why gangs wait.
    """

    most_tries: int = _is(
        40, "tries", "of evictions, to say who is protected", "evict/impossible"
    )
    pods_tried: int = _is(
        40_000, "running pods", "in all those tries together", "evict/impossible"
    )
    pods_per_unit: float = _is(
        100_000.0, "running pods", "a try, for one deterministic unit", "evict/mixed"
    )
    kept: float = _is(
        0.1,
        "part",
        "of the limit that the search leaves to the reasons",
        "rounds/trees",
    )
    kept_for_reserved: float = _is(
        0.4,
        "part",
        "of the limit for a second solve, where a band above reservations waits",
        "evict/mixed",
    )
    limit: float = _is(
        0.5,
        "deterministic units",
        "for one proof that a gang fits alone",
        "rounds/trees",
    )
    most_nodes: int = _is(
        400,
        "nodes",
        "up to which each stands apart in that proof, so that it can say yes",
        "rounds/trees",
    )
    nodes_per_unit: float = _is(
        10_000.0,
        "nodes",
        "for which building that model uses up one deterministic unit",
        "rounds/trees",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """
    All numbers of the search, by the room that they are read in.
    """

    place: Place = Place()
    evict: EvictTuning = EvictTuning()
    encode: Encode = Encode()
    decode: Decode = Decode()
    search: Search = Search()
    patterns: Patterns = Patterns()
    spectral: Spectral = Spectral()
    swaps: Swaps = Swaps()
    explain: Explain = Explain()


DEFAULT = Tuning()
