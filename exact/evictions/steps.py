"""
The steps of a round in the small model: the first by itself, the later ones given it.
"""

from collections import Counter
from collections.abc import Collection, Iterator

from exact.evictions.bounds import (
    add_bounds,
    add_now,
    lost_age,
    lost_gangs,
    lost_pods,
    lost_rank,
    lost_size,
    lost_work,
)
from exact.evictions.frozen import afterwards, frozen_of, gone_stale, of_entitled
from exact.evictions.leaving import add_leaving
from exact.evictions.needs import needs_of
from exact.evictions.reserved import add_reserved_for_want_of_room
from exact.evictions.rights import add_rights
from exact.evictions.step import Frozen, Place, Stage, Step, is_stale, runners_of, total
from exact.facts import Facts, GangFacts, gather
from exact.model import add_gangs, add_receivers
from exact.neighbours import Changes, add_neighbours
from exact.search import Value, maximum
from exact.small_model import Shares, SmallModel
from exact.tiers import Expr, tier_expressions
from models.gangs import pod_sets
from models.plan import Plan
from models.policy import Policy
from models.snapshot import Snapshot
from solver.effort.cp_sat import cp_model

Entry = tuple[str, int | None, int, Expr]


def best_first_step(
    snapshot: Snapshot, policy: Policy, shares: Shares, stale: Collection[str] = ()
) -> list[Value] | None:
    """
    Give the best values of the first step: entitled starts, and what they cost.

    Parameters
    ----------
    snapshot
        A small case without reservations: up to about six nodes and twenty pods.
    policy
        The tiers of entitled starts come first, then those of disruption if listed.
    shares
        The fair share per queue and named resource.
    stale
        The stale gangs that leave, as ``gone_stale`` reads them from a plan.
    """
    return best_of_first_step(gather(snapshot, stale), policy, shares)


def best_of_first_step(
    facts: Facts, policy: Policy, shares: Shares
) -> list[Value] | None:
    """
    Give the best values of the first step of what was read from a snapshot.
    """
    step = build_step(facts, policy, shares, Stage.ENTITLED, Frozen())
    return optimise(step, first_tiers(step))


def first_step_that_starts(
    gang: str, snapshot: Snapshot, policy: Policy, shares: Shares
) -> list[Value] | None:
    """
    Give the best values of a first step that starts a gang, if there is one.

    Parameters
    ----------
    gang
        Who is to start, of those that wait.
    snapshot, policy, shares
        As for ``best_first_step``.
    """
    step = build_step(gather(snapshot), policy, shares, Stage.ENTITLED, Frozen())
    step.cp.add(step.small.starts[gang] == 1)
    return optimise(step, first_tiers(step))


def best_second_step(
    snapshot: Snapshot, policy: Policy, shares: Shares, plan: Plan
) -> list[Value] | None:
    """
    Give the best values of the second step, given what a plan froze in the first one.

    Operations whose beneficiaries are entitled belong to the first step.  ``None`` when
    what the plan froze breaks a rule.
    """
    first = of_entitled(frozen_of(snapshot, plan), plan)
    before = gather(snapshot, gone_stale(plan))
    step = build_step(before, policy, shares, Stage.BORROWING, first)
    return optimise(step, second_tiers(step))


def best_later(
    snapshot: Snapshot, policy: Policy, shares: Shares, plan: Plan
) -> list[Value] | None:
    """
    Give the best values of all further tiers, given who leaves and who is reserved.

    Operations whose beneficiaries are entitled belong to the first step, the others to
    the second one.  Gangs that lost pods lose and get nothing more.  ``None`` when what
    the plan froze breaks a rule.  Of the second step only what is lost is listed: where
    queues remember, or something is preempted, further starts follow in idle room.
    """
    found: list[Value] = []
    if policy.has("borrowing"):
        second = best_second_step(snapshot, policy, shares, plan)
        if second is None:
            return None
        found += [x for x in second if x[0] not in {"entitled", "borrowing"}]
    frozen = frozen_of(snapshot, plan)
    before = gather(snapshot, gone_stale(plan))
    step = build_step(before, policy, shares, Stage.IDLE, frozen)
    third = optimise(step, third_tiers(step))
    return None if third is None else [*found, *third]


# --- tiers ----------------------------------------------------------------------


def _listed(step: Step, *names: str) -> Iterator[Entry]:
    wanted = tuple(tier for tier in step.policy.tiers if tier.name in names)
    policy = step.policy.model_copy(update={"tiers": wanted})
    return (x for x in tier_expressions(step.small, policy) if x[0] != "order")


def first_tiers(step: Step) -> Iterator[Entry]:
    """
    List the tiers of the first step.
    """
    yield from _listed(step, "entitled")
    if step.policy.has("disruption"):
        yield from _losses(step, "disruption")


def second_tiers(step: Step) -> Iterator[Entry]:
    """
    List the tiers of the second step.
    """
    yield from _listed(step, "entitled")
    yield from _listed(step, "borrowing")
    if step.policy.has("disruption"):
        yield from _losses(step, "preemption")


def _losses(step: Step, name: str) -> Iterator[Entry]:
    yield name, None, -1, lost_work(step)
    yield f"{name}-gangs", None, -1, lost_gangs(step)
    yield f"{name}-pods", None, -1, lost_pods(step)
    yield f"{name}-rank", None, -1, lost_rank(step)
    yield f"{name}-age", None, -1, lost_age(step)
    yield f"{name}-size", None, -1, lost_size(step)


def third_tiers(step: Step) -> Iterator[Entry]:
    """
    List the tiers of what starts in idle room, and what it adds to those before.
    """
    yield from _listed(step, "entitled")
    yield from _listed(step, "borrowing")
    early = {"entitled", "borrowing", "disruption"}
    rest = tuple(tier for tier in step.policy.tiers if tier.name not in early)
    policy = step.policy.model_copy(update={"tiers": rest})
    yield from tier_expressions(step.small, policy)


def optimise(step: Step, tiers: Iterator[Entry]) -> list[Value] | None:
    """
    Solve tier by tier; ``None`` when no plan is legal.
    """
    found: list[Value] = []
    for name, band, sign, expr in tiers:
        value = maximum(step.cp, sign, expr)
        if value is None:
            return None
        step.cp.add(expr == value)
        found.append((name, band, value))
    return found


# --- one step -------------------------------------------------------------------


def build_step(
    before: Facts, policy: Policy, shares: Shares, stage: Stage, frozen: Frozen
) -> Step:
    """
    Build the legal plans of a step.
    """
    runners = runners_of(before)
    stays = {x.gang.key for x in runners if x.key not in frozen.departures}
    small = SmallModel(
        cp=cp_model.CpModel(),
        facts=afterwards(before, frozen),
        shares=shares,
        reserved=frozen.reserved,
        stopped=frozenset(x.gang.key for x in runners) - stays,
        stale=frozenset(x for x in before.gangs if is_stale(policy, before, x)),
    )
    step = Step(
        small=small,
        before=before,
        policy=policy,
        stage=stage,
        frozen=frozen,
        runners=runners,
    )
    add_gangs(small)
    _add_starts(step)
    _add_frozen(step)
    add_now(step)
    add_leaving(step)
    add_neighbours(small, _changes(step))
    add_bounds(step)
    add_rights(step)
    add_receivers(small)
    add_reserved_for_want_of_room(step)
    return step


def _changes(step: Step) -> Changes:
    """
    Count what is bound, leaves and comes from elsewhere, by gang, leaf and node.
    """
    gone: dict[Place, list[cp_model.LinearExpr]] = {}
    left: Counter[Place] = Counter()
    for runner in step.runners:
        place = runner.gang.key, runner.leaf.name, runner.pod.node or ""
        gone.setdefault(place, []).append(step.leaves(runner))
        left[place] += runner.key in step.frozen.departures
    return Changes(
        now=step.now,
        gone={place: total(terms) for place, terms in gone.items()},
        moved=step.targets,
        left=left,
        kept=step.frozen.places,
    )


def _add_starts(step: Step) -> None:
    """
    Ensure what a start needs, and that only the last step places more than that.
    """
    small, cp = step.small, step.cp
    for key, _ in small.planned():
        if key not in small.starts and step.stage is not Stage.IDLE:
            cp.add(sum(small.placed[key].values()) == 0)
    for key, start in small.starts.items():
        fact = small.facts.gangs[key]
        small.entitled[key] = cp.new_bool_var("")
        if step.stage is not Stage.IDLE and step.remembers(fact.gang):
            cp.add(start == 0)
        cp.add_implication(small.entitled[key], start)
        if step.stage is Stage.ENTITLED or not step.before.named:
            cp.add_implication(start, small.entitled[key])
        step.reserved[key] = cp.new_bool_var("")
        cp.add_implication(step.reserved[key], start)
        if step.stage is Stage.BORROWING and key not in step.frozen.reserved:
            cp.add_implication(step.reserved[key], ~small.entitled[key])
        if step.stage is Stage.ENTITLED:
            step.evicting[key] = cp.new_bool_var("")
            cp.add_implication(step.evicting[key], step.reserved[key])
        _add_needs(step, key, fact)
    for key in small.starts:
        for mate in small.facts.gangs[key].mates:
            cp.add(small.entitled[key] == small.entitled[mate])
            cp.add(step.reserved[key] == step.reserved[mate])


def _add_needs(step: Step, key: str, fact: GangFacts) -> None:
    """
    Ensure that a start's needs are one of the smallest sets, within its pods.
    """
    small, cp = step.small, step.cp
    names = [leaf.name for leaf in pod_sets(fact.gang.tree)]
    step.sets[key] = needs_of(fact)
    step.needs[key] = {x: cp.new_int_var(0, fact.pending[x], "") for x in names}
    step.charged[key] = {x: cp.new_int_var(0, fact.pending[x], "") for x in names}
    chosen = [cp.new_bool_var("") for _ in step.sets[key]]
    cp.add(sum(chosen) == small.starts[key])
    for at, name in enumerate(names):
        need, charge = step.needs[key][name], step.charged[key][name]
        cp.add(
            need == sum(s[at] * x for s, x in zip(step.sets[key], chosen, strict=True))
        )
        if step.stage is Stage.IDLE or key in step.frozen.reserved:
            cp.add(need <= small.placed[key][name])
        else:
            cp.add(need == small.placed[key][name])
        cp.add(charge == need).only_enforce_if(small.entitled[key])
        cp.add(charge == 0).only_enforce_if(~small.entitled[key])


def _add_frozen(step: Step) -> None:
    """
    Ensure that reserved gangs keep their places, and gangs that lost pods get none.
    """
    small, cp = step.small, step.cp
    for key, start in small.starts.items():
        if key in step.frozen.reserved:
            cp.add(start == 1)
            cp.add(step.reserved[key] == 1)
            cp.add(small.entitled[key] == int(key in step.frozen.entitled))
        elif step.stage is Stage.IDLE:
            cp.add(step.reserved[key] == 0)
    for place, var in small.binds.items():
        if place[0] in step.frozen.reserved:
            cp.add(var == step.frozen.places.get(place, 0))
    if not set(step.frozen.places) <= set(small.binds):
        cp.add_bool_or([])
    losers = {x.gang.key for x in step.runners if x.key in step.frozen.departures}
    losers |= step.before.stale
    for key, _ in small.planned():
        if key in losers:
            cp.add(sum(small.placed[key].values()) == 0)
