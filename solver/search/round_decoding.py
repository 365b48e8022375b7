"""
Answers of the whole round, turned into drafts of one of its steps.
"""

from dataclasses import replace

from solver.decode.deal_places import Decoded
from solver.decode.evictions import Decoding, Value
from solver.effort.budget import Budget
from solver.encode.leaving.round_stage import Stage, in_order
from solver.encode.leaving.step_encoding import StepEncoding
from solver.encode.node_classes import NodeClass


def decode_stage(stage: Stage, value: Value, budget: Budget) -> tuple[Decoded, bool]:
    """
    Turn an answer of the whole round into a draft of one of its steps.
    """
    encoding = replace(stage.encoding, problem=stage.opened.problem)
    return _StageDecoding(encoding, stage, value, budget).run()


class _StageDecoding(Decoding):
    """
    One answer of the whole round being read: nodes stand alone in it.
    """

    def __init__(
        self, encoding: StepEncoding, stage: Stage, value: Value, budget: Budget
    ) -> None:
        super().__init__(encoding, value, budget)
        self.stage = stage

    def assign_nodes(self) -> None:
        for (node, account), literals in self.stage.things.items():
            things = in_order(self.victims.on_node[node][account])
            number = sum(map(self.value, literals))
            if any(thing.devices for thing in things):
                pairs = zip(things, literals, strict=True)
                things = [thing for thing, literal in pairs if self.value(literal)]
            self.take(account, node, number, things)

    def items(self) -> tuple[NodeClass, ...]:
        return self.encoding.classes.items
