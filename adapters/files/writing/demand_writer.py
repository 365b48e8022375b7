"""
What pods demand of nodes, written as files say it.
"""

from collections.abc import Mapping
from typing import Any

from models.nodes import LabelRule, NodeDemand, Terms, Toleration

Record = dict[str, Any]


def demand_record(demand: NodeDemand) -> Mapping[str, object]:
    """
    Write where a pod may be.
    """
    found: Record = {}
    if demand.selector:
        found["nodeSelector"] = dict(demand.selector)
    if demand.terms is not None:
        found["affinity"] = {
            "requiredDuringSchedulingIgnoredDuringExecution": _terms(demand.terms)
        }
    if demand.tolerations:
        found["tolerations"] = [_toleration(one) for one in demand.tolerations]
    if demand.volumes:
        found["volumes"] = [_terms(terms) for terms in demand.volumes]
    return found


def _terms(terms: Terms) -> Record:
    written = [{"matchExpressions": [_expression(r) for r in t]} for t in terms]
    return {"nodeSelectorTerms": written}


def _expression(rule: LabelRule) -> Record:
    values = {"values": list(rule.values)} if rule.values else {}
    return {"key": rule.key, "operator": rule.operator, **values}


def _toleration(one: Toleration) -> Record:
    operator = "" if one.operator == "Equal" else one.operator
    said = {
        "key": one.key,
        "operator": operator,
        "value": one.value,
        "effect": one.effect,
    }
    return {key: value for key, value in said.items() if value}
