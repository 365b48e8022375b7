"""
The model of one search: built when first needed, its tiers locked one after the other.
"""

from collections.abc import Sequence
from typing import Literal

from models.plan import ModelSize
from solver.encode.conversion.convert_nodes import convert
from solver.encode.demand import levels_of, pending_shapes
from solver.encode.encoding import Encoding, MayLeave, encode
from solver.encode.hint import hint, hint_values
from solver.encode.node_classes import classes_of
from solver.encode.tier_rows import aim_at, keep_at
from solver.encode.variables import Linear, Var
from solver.evict.entitled_first import nodes_for_entitled
from solver.evict.open_step import Opened
from solver.place.draft import Draft
from solver.problem.problem import Problem, Step
from solver.score.tier import TierKey
from solver.score.tiers import is_better, score
from solver.search.in_hand import InHand
from solver.search.race import Answer, hint_answer


class Model:
    """
    An encoding with the sums of its tiers; ``split`` holds nodes that stay apart.

    ``levels`` are those that gangs without a place ask for.  In a step that is
    ``opened``, ``most`` are tiers that nobody may leave for, with what they reach
    without.  The ``last`` answer of such a step tells all of its variables, a draft but
    a part of them.
    """

    def __init__(
        self,
        problem: Problem,
        keys: tuple[TierKey, ...],
        opened: Opened | None = None,
    ) -> None:
        moved = opened.moved if opened is not None else []
        self.problem = problem
        self.keys = keys
        self.opened = opened
        self.most = {} if opened is None else _without_anybody(opened)
        self.split: dict[int, int] = {}
        self.size = ModelSize()
        self.levels = levels_of(problem, moved)
        self._shapes = pending_shapes(problem, moved)
        self._encoding: Encoding | None = None
        self._sums: dict[int, Linear] = {}
        self._locked: dict[int, int] = {}
        self._told: tuple[Draft, int, list[tuple[Var, int]]] | None = None
        self.last: Answer | None = None

    @property
    def encoding(self) -> Encoding:
        """
        The variables by meaning.
        """
        if self._encoding is None:
            self._encoding = self._build()
            self._sums = {}
            self._locked = {}
            self._told = None
            self.last = None
        return self._encoding

    def _build(self) -> Encoding:
        problem, opened = self.problem, self.opened
        if opened is None:
            most = problem.tuning.encode.most_classes
            return encode(
                problem,
                classes_of(problem, self._shapes, self.levels, self.split, most),
            )
        first = nodes_for_entitled(opened.now, opened.idle)
        conversion = convert(
            problem,
            self._shapes,
            self.levels,
            opened.victims,
            self.split,
            first or (),
        )
        may_leave = MayLeave(
            opened.victims,
            opened.movers,
            conversion,
            opened.now.room.now,
            told_apart=first is not None,
        )
        encoding = encode(problem, conversion.classes, may_leave)
        for key, value in self.most.items():
            row = encoding.tier(key)
            if row.variables:
                encoding.model.add(row.expression <= value)
        return encoding

    def refine(self, unpacked: Sequence[int]) -> bool:
        """
        Give nodes classes of their own whose counts could not be packed.

        The encoding is built again when it is next asked for; false where all of them
        are alone already.
        """
        whole = self.problem.tuning.search.split_whole
        changed = False
        for nodes in self._mixed(unpacked):
            apart = [node for node in nodes if self.split.get(node, 0) != 1 + node]
            size = 1 if len(apart) <= whole else -(-len(apart) // whole)
            for i, node in enumerate(apart):
                self.split[node] = 1 + apart[i // size * size]
            changed = changed or bool(apart)
        if changed:
            self._encoding = None
        return changed

    def forget(self) -> None:
        """
        Drop all locks: no plan keeps what they claim.
        """
        self._encoding = None

    def _mixed(self, unpacked: Sequence[int]) -> list[list[int]]:
        """
        List the nodes that share a class, or that could be in the bins of a group.
        """
        encoding = self.encoding
        if encoding.leaving is None:
            items = encoding.classes.items
            return [[*items[at].nodes] for at in unpacked if len(items[at].nodes) > 1]
        wanted = {*unpacked}
        conversion = encoding.leaving.conversion
        return [
            [
                node
                for group in conversion.groups
                if wanted & {group.base, *(option.bin for option in group.options)}
                for node in group.nodes
            ]
        ]

    def ready(self, at: int, values: Sequence[int]) -> Linear:
        """
        Lock every earlier tier at its value, and give the sum of this one.

        A tier that a later answer has bettered is locked again.
        """
        encoding = self.encoding
        for earlier in range(at + 1):
            if earlier not in self._sums:
                self._sums[earlier] = encoding.tier(self.keys[earlier])
            if earlier < at and self._locked.get(earlier) != values[earlier]:
                self._locked[earlier] = values[earlier]
                row, key = self._sums[earlier], self.keys[earlier]
                keep_at(encoding.model, row, key.direction, values[earlier])
        self._measure(encoding)
        return self._sums[at]

    def aim(self, row: Linear, direction: Literal["max", "min"], held: InHand) -> None:
        """
        Make a sum the objective, and what is in hand the hint.
        """
        model = self.encoding.model
        aim_at(model, row, direction)
        if held.answer is None:
            self.hint(held.draft)
        else:
            hint_answer(model, held.answer)

    def last_with(self, at: int, values: Sequence[int]) -> Answer | None:
        """
        Give the last answer where it has some values, or better ones, up to a tier.
        """
        last = self.last
        if last is None:
            return None
        for tier, key in enumerate(self.keys[: at + 1]):
            row = self._sums[tier]
            if any(one.index >= len(last.values) for one in row.variables):
                return None
            if is_better((key,), (values[tier],), (row.at(last.value),)):
                return None
        return last

    def hint(self, best: Draft) -> None:
        """
        Tell the model a draft as its first solution.
        """
        encoding = self.encoding
        size = len(encoding.model.proto.variables)
        if self._told is None or self._told[0] is not best or self._told[1] != size:
            self._told = best, size, hint_values(encoding, best)
        hint(encoding.model, self._told[2])

    def _measure(self, encoding: Encoding) -> None:
        proto = encoding.model.proto
        self.size = ModelSize(
            variables=len(proto.variables),
            constraints=len(proto.constraints),
            node_classes=sum(max(1, len(x.parts)) for x in encoding.classes.items),
            pod_shapes=len(self._shapes),
            gang_types=len(encoding.types),
        )


def _without_anybody(opened: Opened) -> dict[TierKey, int]:
    """
    Give what is entitled in the second step, in which nobody leaves for it.
    """
    if opened.problem.step is Step.ENTITLED:
        return {}
    keys = tuple(key for key in opened.keys if key.name == "entitled")
    values = score(opened.problem, opened.idle, keys)
    return dict(zip(keys, values, strict=True))
