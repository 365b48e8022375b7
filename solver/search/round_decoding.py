"""
Answers of the whole round, turned into drafts of one of its steps.
"""

from dataclasses import replace

from solver.decode.converted_nodes import take
from solver.decode.deal_places import Decoded
from solver.decode.evictions import decode_leaving
from solver.decode.exit_rules import Gone, Value
from solver.effort.budget import Budget
from solver.encode.leaving.round_stage import Stage, in_order


def decode_stage(stage: Stage, value: Value, budget: Budget) -> tuple[Decoded, bool]:
    """
    Turn an answer of the whole round into a draft of one of its steps.

    Nodes stand alone in it.
    """
    encoding = replace(stage.encoding, problem=stage.opened.problem)
    gone = _gone(stage, value)
    return decode_leaving(
        encoding, stage.leaving, value, budget, gone, encoding.classes.items
    )


def _gone(stage: Stage, value: Value) -> Gone:
    """
    List the victims that leave, node by node.
    """
    gone: Gone = {}
    victims = stage.leaving.victims
    for (node, account), literals in stage.victim_vars.items():
        alike = in_order(victims.on_node[node][account])
        number = sum(map(value, literals))
        if any(victim.pieces for victim in alike):
            pairs = zip(alike, literals, strict=True)
            alike = [victim for victim, literal in pairs if value(literal)]
        take(gone, account, node, number, alike)
    return gone
