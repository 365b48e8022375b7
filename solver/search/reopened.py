"""
Reopening: a draft with many domains is bettered piece by piece.

In a few domains all is placed anew, and gangs that ask for no domain are chosen anew
everywhere; who is confined to other domains stays where it is.  What is found so holds
for the whole round; that there is no more of it does not.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from solver.decode.reading import read
from solver.encode.node_classes import domains_of
from solver.evict.freeze import with_starts
from solver.place.draft import Draft
from solver.problem.node_room import Bools, Ints
from solver.problem.problem import Problem, Unit
from solver.search.best_so_far import BestSoFar
from solver.search.goal import Goal
from solver.search.in_hand import InHand
from solver.search.questions import Questions
from solver.search.tier_model import Model


@dataclass(frozen=True, slots=True)
class Reopened:
    """
    A round with some starts ``settled``, and the ``rest`` of a draft.

    ``split`` tells nodes of the reopened domains apart by their domain.
    """

    problem: Problem
    settled: Draft
    rest: Draft
    split: Mapping[int, int]

    def whole(self, rest: Draft) -> Draft:
        """
        Put another rest beside what is settled.
        """
        return Draft(
            places={**self.settled.places, **rest.places},
            entitled=self.settled.entitled | rest.entitled,
        )


class Reopening:
    """
    Pieces of one round: some domains by lot, more of them after each that was in vain.
    """

    def __init__(self, questions: Questions) -> None:
        self.questions = questions
        self.best = questions.best
        self.budget = questions.budget
        self.tuning = questions.best.problem.tuning.search
        self.chance = np.random.default_rng(questions.budget.seed)
        table, _ = domains_of(self.best.problem, questions.model.levels)
        self.domain: Ints = np.unique(table, axis=0, return_inverse=True)[1].reshape(-1)

    def drafts(self, at: int, share: float, claim: int) -> Iterator[Draft]:
        """
        Give better and better drafts, up to what the relaxation claims of a tier.
        """
        problem = self.best.problem
        if problem.around is not None or problem.room.parts is not None:
            return
        end = max(0.0, self.budget.left - share)
        every = int(self.domain.max()) + 1
        number = float(self.tuning.first_piece)
        order: list[int] = []
        while self.budget.left > end and self.questions.falls_short(at, claim):
            few = min(every, int(number))
            if len(order) < few:
                order += self.chance.permutation(every).tolist()
            piece = piece_of(problem, self.best.draft, self.domain, order[:few])
            order = order[few:]
            limit = min(self.budget.left - end, share * self.tuning.piece)
            draft, done = self._better(piece, at, claim, limit)
            before = self.best.values
            if draft is not None:
                yield draft
            if self.best.values != before:
                continue
            if few == every:
                return
            step = self.tuning.reopened
            number = number * step if done else max(1.0, number / step)

    def _better(
        self, piece: Reopened, at: int, claim: int, limit: float
    ) -> tuple[Draft | None, bool]:
        """
        Solve a tier of a piece; give what is better, and whether there is no more.
        """
        best, key = self.best, self.best.keys[at]
        values = BestSoFar(piece.problem, best.keys, piece.rest).values
        model = Model(piece.problem, best.keys)
        model.split.update(piece.split)
        row = model.ready(at, values)
        rows = model.size.variables + model.size.constraints
        self.budget.charge(rows / self.tuning.rows_per_unit)
        self.budget.watch.lap("build")
        model.aim(row, key.direction, InHand([*values], piece.rest))
        goal = Goal(
            key.direction, 0.0, values[at], values[at] + claim - best.values[at]
        )
        answer = self.questions.attempts.solve(model.encoding.model, goal, limit)
        self.budget.watch.lap("search")
        if answer is None or not goal.is_better(answer.claim, goal.value):
            return None, goal.is_closed()
        rest, _ = read(model.encoding, answer.value, self.budget, None)
        self.budget.watch.lap("decode")
        return rest and piece.whole(rest), True


def piece_of(
    problem: Problem, draft: Draft, domain: Ints, chosen: Collection[int]
) -> Reopened:
    """
    Cut a round to what a draft does in some domains and with gangs that ask for none.

    Nodes of other domains lose their labels, so that nobody is confined to them.
    """
    inside = np.isin(domain, [*chosen])
    units = tuple(unit for unit in problem.units if _is_open(unit, draft, inside))
    free = {state.key for unit in units for state in unit.states}
    places = {key: row for key, row in draft.places.items() if key not in free}
    settled = Draft(places=places, entitled=draft.entitled & places.keys())
    after = with_starts(problem, settled)
    holes = after.room.holes.copy()
    holes[[host for row in places.values() for host in row.nodes]] = 0
    nodes = tuple(
        node if here else replace(node, labels={})
        for node, here in zip(after.room.nodes, inside, strict=True)
    )
    room = replace(after.room, nodes=nodes, holes=holes)
    rest = {key: row for key, row in draft.places.items() if key in free}
    return Reopened(
        problem=replace(after, room=room, units=units),
        settled=settled,
        rest=Draft(places=rest, entitled=draft.entitled & free),
        split={int(node): 1 + int(domain[node]) for node in np.flatnonzero(inside)},
    )


def _is_open(unit: Unit, draft: Draft, inside: Bools) -> bool:
    """
    Tell whether a unit asks for no domain, or has nothing outside some nodes.
    """
    if all(node.topology is None for state in unit.states for node in state.nodes):
        return True
    if not unit.starts or any(x.running for s in unit.states for x in s.leaves):
        return False
    placed = [draft.places[s.key] for s in unit.states if s.key in draft.places]
    return all(inside[host] for places in placed for host in places.nodes)
