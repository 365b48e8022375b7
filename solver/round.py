"""
The round: a snapshot and a policy in, a verified plan out.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from models.errors import PlanRejectedError
from models.memory.aged_gangs import still
from models.plan import Plan
from models.policy import Policy
from models.snapshot import HashMemo, Snapshot, content_hash, hashed_ahead
from models.why.reasons import Waiting
from solver.effort.budget import Budget, Clock, Lanes, Stopwatch
from solver.evict.evicted_before import was_evicted
from solver.evict.reservations import keep, promises_of
from solver.evict.rights.last_rights import may_end_with
from solver.evict.stale import letting_go, stale_departures, stale_gangs
from solver.explain.reasons import explain
from solver.hold.heads import Head, head_facts, line_of
from solver.hold.held_back import held_gpus
from solver.hold.held_nodes import lent_by, next_loan
from solver.hold.lent_out import lent_to_any
from solver.hold.turns import budget_left
from solver.next_snapshot import carry_out
from solver.place.draft import Draft
from solver.plan.helped import for_the_helped
from solver.plan.placement import placement_of
from solver.plan.plan import LinesMemo, lines_memo, plan_of
from solver.plan.serve_heads import BesideHeads, serve_heads, start_heads
from solver.plan.short_lived import conditional, short_lived, started, without
from solver.problem.given import ProblemMemo
from solver.problem.problem import Problem, problem_of
from solver.score.tiers import tier_keys
from solver.search.search_outcome import Outcome, is_ahead
from solver.strategies import STRATEGIES
from solver.tuning import Tuning
from solver.verify import verify
from solver.verify.known import JudgeMemo

PHASES = ("problem", "greedy", "build", "search", "decode", "verify")


class RoundMemo:
    """
    What the rounds of one cluster share: whoever plans them keeps it, and may drop it.

    A plan does not depend on it: all in it is known by the identity of objects that
    never change (decision 25).
    """

    def __init__(self) -> None:
        self.problem = ProblemMemo()
        self.lines = lines_memo()
        self.hashes = HashMemo()
        self.judge = JudgeMemo(lasts=True)


@dataclass(frozen=True, slots=True)
class RoundOptions:
    """
    How a round is planned, beside what is and what is wanted.

    ``strategy`` is a name of ``STRATEGIES``; ``progress`` is told the name of each
    phase as it begins.  Where it is ``explained``, gangs that wait say why, and the
    plan what it was made from; nothing else depends on either.  ``tuning`` has the
    numbers of the search, where they are not the usual ones; ``memo`` is what rounds of
    one cluster share, and the plan does not depend on it.  So is the round's own
    ``problem``, where it is known.
    """

    strategy: str = "solver"
    progress: Callable[[str], None] | None = None
    explained: bool = True
    tuning: Tuning | None = None
    memo: RoundMemo | None = None
    problem: Problem | None = None


def decide(  # noqa: PLR0913 - who decides, and what may watch it
    snapshot: Snapshot,
    policy: Policy,
    *,
    strategy: str = "solver",
    clock: Clock | None = None,
    lanes: Lanes | None = None,
    progress: Callable[[str], None] | None = None,
    explained: bool = True,
    tuning: Tuning | None = None,
    memo: RoundMemo | None = None,
) -> Plan:
    """
    Plan one round and verify it.

    Parameters
    ----------
    snapshot
        What is.
    policy
        What is wanted, and how long the search may take.
    strategy, progress, explained, tuning, memo
        As ``RoundOptions`` says.
    clock
        A monotonic clock; with it the plan says how long each phase took, and only
        with it a limit in seconds can hold.
    lanes
        What two searches may run on at once, with a limit in seconds and two workers.

    Raises
    ------
    PlanRejectedError
        When the plan breaks a rule; nothing of it may be carried out.
    """
    budget = budget_of(policy, clock, lanes)
    options = RoundOptions(strategy, progress, explained, tuning, memo)
    plan = propose(snapshot, policy, budget, options)
    return judged(snapshot, policy, plan, budget.watch, memo)


def budget_of(
    policy: Policy, clock: Clock | None = None, lanes: Lanes | None = None
) -> Budget:
    """
    Give what a round may use up, all of it from now on.
    """
    return Budget(policy.limits, policy.seed, Stopwatch(clock, lanes))


def propose(
    snapshot: Snapshot, policy: Policy, budget: Budget, options: RoundOptions
) -> Plan:
    """
    Plan one round; nobody has judged the plan yet.
    """
    memo = options.memo or RoundMemo()
    tell = options.progress or (lambda _: None)
    tell("problem")
    given = options.problem
    bare = given or problem_of(snapshot, policy, options.tuning, memo.problem)
    tell("search")
    if options.explained:
        lines = memo.lines.ahead(still(snapshot.gangs))
        budget.chores = chain(lines, hashed_ahead(snapshot, memo.hashes))
    with budget.keeping(bare.tuning.explain.kept):
        outcome = _lasting(bare, budget, options.strategy)
    tell("verify")
    why = _reasons(bare, outcome, budget) if options.explained else bare.blocked
    source = content_hash(snapshot, memo.hashes) if options.explained else ""
    plan = _plan(outcome, options.strategy, why, source, memo.lines)
    budget.watch.lap("decode")
    return replace(plan, cut=tuple(sorted(budget.cut)))


def _plan(
    outcome: Outcome,
    strategy: str,
    waiting: Mapping[str, Waiting],
    source: str = "",
    lines: LinesMemo | None = None,
) -> Plan:
    """
    Name pods and operations, those that let stale gangs go with them.
    """
    placement = placement_of(outcome.problem, outcome.draft)
    stale = stale_departures(outcome.problem, placement)
    return plan_of(
        replace(placement, departures={**placement.departures, **stale}),
        outcome,
        strategy=strategy,
        waiting=waiting,
        source=source,
        lines=lines,
    )


def judged(
    snapshot: Snapshot,
    policy: Policy,
    plan: Plan,
    watch: Stopwatch,
    memo: RoundMemo | None = None,
) -> Plan:
    """
    Let only a plan pass that holds, with how long each phase took.

    Raises
    ------
    PlanRejectedError
        When the plan breaks a rule.
    """
    violations = verify(snapshot, policy, plan, None if memo is None else memo.judge)
    watch.lap("verify")
    if violations:
        raise PlanRejectedError([str(v) for v in violations])
    if not watch.is_running:
        return plan
    seconds = {phase: watch.seconds.get(phase, 0.0) for phase in PHASES}
    return replace(plan, seconds={**seconds, "total": watch.spent()})


def _reasons(bare: Problem, outcome: Outcome, budget: Budget) -> dict[str, Waiting]:
    """
    Say why gangs wait, as if no nodes were held; of heads, what is held for them.
    """
    problem = outcome.problem
    reasons = explain(bare, outcome, budget)
    for head in outcome.heads:
        unit = next((u for u in problem.units if u.key == head.key), None)
        if unit is None or outcome.draft.starts(unit):
            continue
        facts = head_facts(head, problem)
        for state in unit.states:
            why = reasons[state.key]
            reasons[state.key] = replace(why, facts={**why.facts, **facts})
    return reasons


def _lasting(bare: Problem, budget: Budget, strategy: str) -> Outcome:
    """
    Plan without those that the next round would evict for a gang that waits.

    Where such a gang would not start then either, they start all the same.  Greedy's
    plan is taken where it lasts and comes to more, without them or where a gap is left.
    """
    whole = bare
    first = found = _chosen(bare, budget, strategy)
    if strategy not in {"solver", "greedy"}:
        return first

    def following(outcome: Outcome) -> Outcome:
        plan = _plan(outcome, strategy, outcome.problem.blocked)
        later = carry_out(bare.snapshot, plan, 0)
        again = problem_of(later, bare.policy, bare.tuning)
        return _chosen(again, budget, strategy)

    makes_way: dict[str, tuple[str, ...]] = {}
    for _ in range(bare.tuning.search.most_short_lived):
        short = short_lived(found, following, budget)
        if not short.starts:
            break
        if budget.left <= 0:
            budget.cut.add("next-round")
            return first
        bare = without(bare, short.starts)
        makes_way |= dict.fromkeys(sorted(short.starts), tuple(sorted(short.rivals)))
        found = _chosen(bare, budget, strategy)
        if not short.rivals & started(found):
            return first
    if found is not first:
        found = replace(found, makes_way=makes_way)
    if strategy == "solver" and (found is not first or _may_gain(found, budget)):
        by_hand = _lasting(whole, budget.for_greedy(), "greedy")
        better = is_ahead(by_hand, found)
        if better and not short_lived(by_hand, following, budget).starts:
            found = replace(by_hand, model=found.model)
    return first if found is first else conditional(found, first)


def _may_gain(outcome: Outcome, budget: Budget) -> bool:
    """
    Tell whether greedy may find more, by evictions or beside a head on its node.
    """
    if budget.is_over or any(head.ready for head in outcome.heads):
        return not budget.is_over
    problem = outcome.problem
    asked = {(str(key.name), key.label): key.gap for key in tier_keys(problem)}
    return (
        bool(problem.running_pods or problem.frozen.exits)
        and problem.policy.evicts(borrowing=False)
        and any(
            tier.proof == "conditional" or tier.gap > asked[tier.name, tier.band]
            for tier in outcome.tiers
            if tier.name in {"entitled", "borrowing"}
        )
    )


def _chosen(bare: Problem, budget: Budget, strategy: str) -> Outcome:
    """
    Plan in the room that stale gangs leave, those that this very plan does not help.

    Of some that is only known once it is made: then it is made again with their room.
    Whoever can be helped is, even where more could start without them.
    """
    stale = stale_gangs(bare)
    sure = stale.difference(s.key for unit in bare.units for s in unit.states)
    first = _ranked(letting_go(bare, sure), budget, strategy)
    if stale <= sure:
        return first
    if stale <= sure | started(first):
        return for_the_helped(first, bare, stale)
    if budget.left <= 0:
        budget.cut.add("stale")
        return for_the_helped(first, bare, stale)
    found = _ranked(letting_go(bare, stale - started(first)), budget, strategy)
    best = conditional(found, first) if is_ahead(found, first) else first
    return best if len(stale - sure) == 1 else for_the_helped(best, bare, stale)


def _ranked(bare: Problem, budget: Budget, strategy: str) -> Outcome:
    """
    Plan with all that is reserved, and where that leaves out a higher band, without.

    That counts only where who gets the same places again is not needed for a right.
    """
    outcome = _solved(bare, budget, strategy)
    if not (displaced := _outranked(outcome.problem, outcome.draft)):
        return outcome
    if budget.left <= 0:
        budget.cut.add("reservations")
        return outcome
    other = _solved(bare, budget, strategy, displaced)
    may = may_end_with(other.problem, other.draft, displaced)
    return other if may and is_ahead(other, outcome) else outcome


def _solved(
    bare: Problem, budget: Budget, strategy: str, void: Collection[str] = ()
) -> Outcome:
    """
    Keep what was promised, hold nodes for those passed over too long, plan the rest.
    """
    problem = keep(bare, promises_of(bare), void)
    line = line_of(problem)
    budget.watch.lap("problem")
    again = not void and _outranked(problem, Draft())
    beside = BesideHeads(STRATEGIES[strategy], bare, budget)
    with budget.keeping(bare.tuning.explain.kept_for_reserved if again else 0.0):
        outcome = start_heads(problem, line.heads, beside)
        lent = lent_to_any(problem, {head.key for head in outcome.heads})
        problem, outcome = serve_heads(problem, outcome, beside)
        heads = outcome.heads
        held = held_gpus(outcome.problem, outcome.draft, heads, bare.shapes)
        others = _still_waiting(heads, outcome)
        if held and len(others) < len(heads):
            without = beside.planned(problem, others)
            if _still_waiting(heads, without) == others:
                heads, outcome = others, without
                held = held_gpus(outcome.problem, outcome.draft, heads, bare.shapes)
        if held and budget_left(bare.snapshot, bare.policy) <= 0:
            # What was taken to cost nothing does.
            heads, held = (), 0
            outcome = beside.planned(problem, ())
    if lent:
        outcome = for_the_helped(outcome, bare, lent)
    turns = (line.next_turn(held), next_loan(problem, heads))
    return replace(
        outcome,
        heads=heads,
        held=held,
        turn=min((turn for turn in turns if turn is not None), default=None),
        lent=lent_by(problem, heads, outcome.draft),
    )


def _still_waiting(heads: Sequence[Head], outcome: Outcome) -> tuple[Head, ...]:
    """
    Leave out heads for which others leave: whoever is served so needs no held node.
    """
    served = outcome.problem.frozen.places.keys()
    return tuple(head for head in heads if not head.nodes or head.key not in served)


def _outranked(problem: Problem, draft: Draft) -> frozenset[str]:
    """
    Name the gangs with reservations of a lower band than some that waits and may evict.
    """
    committed = problem.frozen.committed
    waiting = (u for u in problem.units if u.starts and not draft.starts(u))
    bands = (u.band for u in waiting if committed and not was_evicted(problem, u))
    highest = max(bands, default=-1)
    return frozenset(s.key for u in committed if u.band < highest for s in u.states)
