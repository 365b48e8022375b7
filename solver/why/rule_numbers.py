"""
The numbers of a rule: where it holds, how much there is, who has it, what is needed.
"""

from dataclasses import dataclass, replace

import numpy as np

from models.devices.gpu_counts import shares_asked
from models.devices.gpu_parts import is_part
from models.resources import GPU_SHARE
from models.why.kept_off import DRAINED, FREE, REACHED, SELECTOR, kept_off
from models.why.reasons import Facts, counted, device_words, listed
from models.why.verdicts import Blocker, Verdict
from solver.evict.open_step import open_step, remembering
from solver.explain.ending_pods import ending_on, ending_pods
from solver.explain.fragments import pieces
from solver.explain.left_on_devices import of_devices
from solver.explain.protected import protectors
from solver.explain.room_now import bounds_of, matching, rows_of, strain
from solver.place.draft import Draft
from solver.problem.gang_state import Standing
from solver.problem.node_room import Bools, Ints
from solver.problem.problem import Problem, Step, Unit
from solver.problem.when_empty.never_starts import needed
from solver.problem.when_empty.no_fitting_node import labels_of, places_of
from solver.why.given_to_others import GivenToOthers
from solver.why.named_rules import NamedRule, leaves_of, most_asked
from solver.why.room_in_domains import in_one_domain
from solver.why.start_under import OUTRANKED, StartUnder
from solver.why.told_of_neighbours import of_free_volumes, of_neighbours
from solver.why.told_of_others import of_others
from solver.why.worlds import Rules

_NAMED_FIRST = (
    Verdict.OUTRANKED,
    Verdict.PROTECTED,
    Verdict.SHARE,
    Verdict.LIMIT,
    Verdict.QUOTA,
    Verdict.TOPOLOGY,
    Verdict.NODES,
    Verdict.VOLUMES,
    Verdict.NEIGHBOURS,
    Verdict.DEVICES,
    Verdict.FRAGMENTS,
    Verdict.ROOM,
)
"""
Of several rules in one core that is the verdict which is named first here.
"""
_OF_NODES = frozenset({Verdict.NODES, Verdict.VOLUMES, Verdict.NEIGHBOURS})


def blockers_of(
    ask: StartUnder, core: Rules, given: GivenToOthers
) -> tuple[Blocker, ...]:
    """
    Give the rules of a core with their numbers, the verdict's first.
    """
    telling = _Telling(ask, core, given)
    found = [telling.of(rule) for rule in ask.rules if rule in core]
    return tuple(sorted(found, key=lambda one: _NAMED_FIRST.index(one.rule)))


@dataclass(frozen=True, slots=True)
class _Telling:
    """
    One core, and what is asked of the round in which it holds.
    """

    ask: StartUnder
    core: Rules
    given: GivenToOthers

    def of(self, rule: NamedRule) -> Blocker:
        """
        Give one rule with its numbers.
        """
        tell = {
            Verdict.LIMIT: self._of_queue,
            Verdict.QUOTA: self._of_queue,
            Verdict.NODES: self._of_nodes,
            Verdict.VOLUMES: self._of_nodes,
            Verdict.NEIGHBOURS: self._of_nodes,
            Verdict.TOPOLOGY: self._of_domains,
            Verdict.SHARE: self._of_share,
            Verdict.PROTECTED: self._of_protected,
        }
        if rule == OUTRANKED:
            found = of_others(self.ask, self.core, self.given)
        elif rule.is_beside:
            found = of_neighbours(self.ask, self.core, rule)
        else:
            found = tell.get(rule.word, self._of_room)(rule)
        if len(self.ask.unit.states) == 1:
            return found
        return replace(found, facts={**found.facts, "mates": " with its group"})

    # --- room -------------------------------------------------------------------

    def _of_domains(self, rule: NamedRule) -> Blocker:
        problem, unit = self.ask.world(self.core - {OUTRANKED})
        return in_one_domain(problem, unit, rule.kind, rule.at)

    def _of_room(self, _: NamedRule) -> Blocker:
        problem, unit = self.ask.world(self.core - {OUTRANKED})
        there = self.ask.offers
        nodes = matching(problem, unit) & _is_enough(problem, unit, there)
        free = problem.room.now[nodes].clip(min=0).sum(axis=0)
        column, resource, needs = strain(problem, unit, free)
        total = int(there[nodes, column].sum())
        left = int(free[column])
        plain = {rule.word for rule in self.core} - _OF_NODES
        plain -= {Verdict.ROOM, Verdict.SHARE, Verdict.PROTECTED}
        word, facts = Verdict.ROOM, Facts()
        if "mig-" in resource or is_part(resource):
            word = Verdict.DEVICES
        if needs <= left and not plain:
            word = Verdict.FRAGMENTS
            facts = {"detail": pieces(problem, unit)}
        if is_part(resource):
            found = _of_devices(self.ask, self.core, resource, word, facts)
            more = self._ending(nodes, resource)
            return replace(found, facts={**found.facts, **more})
        return Blocker(
            rule=word,
            resource=resource,
            has=total,
            used=total - left,
            needs=needs,
            facts={**facts, **self._where(nodes), **self._ending(nodes, resource)},
        )

    def _ending(self, nodes: Bools, resource: str) -> Facts:
        problem, _ = self.ask.world(self.core)
        return ending_on(problem, ending_pods(problem), nodes, resource)

    def _where(self, nodes: Bools) -> Facts:
        """
        Say so if some of the nodes are only counted since rules about nodes are lifted.
        """
        every = frozenset(self.ask.rules) - {OUTRANKED}
        if (matching(*self.ask.world(every)) | ~nodes).all():
            return {}
        return {"where": ", counting nodes that it may not use"}

    def _of_nodes(self, rule: NamedRule) -> Blocker:
        """
        Say what a rule about nodes keeps a unit off.
        """
        problem, unit = self.ask.world(self.core)
        freer, same = self.ask.world(self.core - {rule})
        more = matching(freer, same) & ~matching(problem, unit)
        free = self.ask.given(self.core).room.now[more].clip(min=0).sum(axis=0)
        column, resource, needs = strain(freer, same, free)
        left, total = int(free[column]), int(self.ask.offers[more, column].sum())
        names = [problem.room.nodes[n].name for n in more.nonzero()[0]]
        at = self._at(rule, len(names))
        if rule.kind == FREE:
            return of_free_volumes(problem, unit, at)
        facts = kept_off(rule.kind, at, names, resource, left)
        if not names and rule.kind != DRAINED:
            return Blocker(rule=rule.word, at=at, facts=facts)
        return Blocker(
            rule=rule.word,
            at=at,
            resource=resource,
            has=total,
            used=total - left,
            needs=needs,
            facts=facts,
        )

    def _at(self, rule: NamedRule, nodes: int) -> str:
        """
        Say where a rule about nodes holds, or what is asked of them.
        """
        if rule.kind == DRAINED:
            return rule.at or counted(nodes, "node")
        tell = {SELECTOR: labels_of, REACHED: places_of}.get(rule.kind)
        if tell is None:
            return rule.at
        asked = {x for leaf in leaves_of(self.ask.unit) for x in tell(leaf.demand)}
        return listed(sorted(asked), "label" if rule.kind == SELECTOR else "place")

    # --- queues -----------------------------------------------------------------

    def _of_queue(self, rule: NamedRule) -> Blocker:
        problem, unit = self.ask.world(self.core - {OUTRANKED})
        (bound,) = (
            bound
            for bound in bounds_of(problem, unit)
            if (bound.queue, bound.resource, bound.fixed)
            == (rule.at, rule.resource, rule.word is Verdict.QUOTA)
        )
        team = problem.queues.outside.get(bound.queue)
        facts: Facts = team.facts(bound.resource) if team else {}
        return Blocker(
            rule=rule.word,
            at=bound.member if facts else bound.queue,
            resource=bound.resource,
            has=bound.limit,
            used=bound.used,
            needs=bound.needs or _where_allowed(problem, unit, bound.resource),
            facts=facts,
        )

    def _of_share(self, rule: NamedRule) -> Blocker:
        problem, unit = self.ask.world(self.core)
        queues = remembering(problem).queues
        for resource in queues.named:
            needs = sum(needed(state, resource) for state in unit.states)
            due = problem.shares.get(rule.at, {}).get(resource, 0)
            left = queues.claim_left(problem.shares, rule.at, resource)
            if needs > left:
                return Blocker(
                    rule=rule.word,
                    at=rule.at,
                    resource=resource,
                    has=due,
                    used=due - left,
                    needs=needs,
                )
        return _of_choice(rule, problem, unit)

    # --- others -----------------------------------------------------------------

    def _of_protected(self, rule: NamedRule) -> Blocker:
        """
        Say who would leave if nothing were protected, and what protects them.

        That is, as things are; else where only the rules of the core hold.
        """
        every = frozenset(self.ask.rules) - {OUTRANKED}
        why = self._protected(every, rule) or self._protected(self.core, rule)
        names = [f"{gang} ({why[gang]})" for gang in sorted(why)]
        facts: Facts = {"gangs": len(why), "who": listed(names, "gang")}
        return Blocker(rule=Verdict.PROTECTED, facts=facts)

    def _protected(self, rules: Rules, rule: NamedRule) -> dict[str, str]:
        problem, _ = self.ask.world(rules - {rule})
        bare, _ = self.ask.world(rules)
        why: dict[str, str] = {}
        for step in (Step.ENTITLED, Step.BORROWING):
            opened = open_step(problem, step, Draft())
            draft = Draft() if opened is None else opened.by_hand().first
            why = why or protectors(bare, draft.exits)
        return why


def _is_enough(problem: Problem, unit: Unit, rows: Ints) -> Bools:
    """
    Tell of each node whether its row is enough for some pod of a unit.
    """
    asked = [problem.shapes.requests[row] for row, _ in rows_of(problem, unit)]
    found: Bools = np.any([(rows >= each).all(axis=1) for each in asked], axis=0)
    return found


def _where_allowed(problem: Problem, unit: Unit, resource: str) -> int:
    """
    Give the least that a unit needs where some pods of a choice have no node.

    Where this is not why it needs the resource, it is what all its pods ask for.
    """
    shapes = problem.shapes

    def needs(state: Standing) -> int:
        rows = [shapes.of_leaf[state.key, i] for i in range(len(state.leaves))]
        return needed(
            state,
            resource,
            lambda i: len(state.leaves[i].pending) * shapes.allowed[rows[i]].any(),
        )

    least = sum(needs(state) for state in unit.states)
    return int(least) or most_asked(unit, resource)


def _of_choice(rule: NamedRule, problem: Problem, unit: Unit) -> Blocker:
    """
    Say of a tree with a choice what it asks for at once of a queue's share.
    """
    queues = remembering(problem).queues
    due = problem.shares.get(rule.at, {})
    left = {r: queues.claim_left(problem.shares, rule.at, r) for r in queues.named}
    asked = [r for r in queues.named if any(r in x.requests for x in leaves_of(unit))]
    scarce = min(asked, key=lambda r: left[r] / max(1, due.get(r, 0)))
    return Blocker(
        rule=rule.word,
        at=rule.at,
        resource=scarce,
        has=due.get(scarce, 0),
        used=due.get(scarce, 0) - left[scarce],
        facts={"wanted": f"more {' and '.join(asked)}"},
    )


def _of_devices(
    ask: StartUnder, core: Rules, resource: str, word: Verdict, facts: Facts
) -> Blocker:
    """
    Say how much of a part, and of GPUs with their parts, is needed and left.
    """
    problem, unit = ask.world(core - {OUTRANKED})
    column = problem.room.resources.index(resource)
    nodes = matching(problem, unit) & (ask.offers[:, column] > 0)
    then = "then " if OUTRANKED in core else ""
    rows = ask.world(core)[0].room.now
    found = of_devices(problem, unit, nodes, rows, resource, then)
    every = problem.room.nodes
    total = sum(shares_asked(every[at].allocatable) for at in nodes.nonzero()[0])
    more = {} if word is Verdict.FRAGMENTS else device_words(found)
    return Blocker(
        rule=word,
        resource=GPU_SHARE,
        has=total,
        used=total - int(found["free"]),
        needs=int(found["needs"]),
        facts={**facts, **more},
    )
