"""
Where a pod may be: what we model of its constraints, and what we do not, by field.
"""

import re
from collections.abc import Iterator, Sequence
from typing import get_args

from adapters.kube.objects.fields import (
    FieldError,
    Json,
    few,
    items,
    mapping,
    records,
    text,
    texts,
    whole,
)
from adapters.kube.objects.parts.device_parts import asked_by_resource
from models.host_ports import port_requests
from models.nodes import (
    ANYWHERE,
    LabelRule,
    NodeDemand,
    Operator,
    Terms,
    Toleration,
)
from models.resources import Resources

NAME_FIELD = "field:metadata.name"
"""
The key under which a rule on a node's name stands among rules on its labels.
"""
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_AFFINITY = "spec.affinity.nodeAffinity"
_OPERATORS = get_args(Operator)
_WHOLE = re.compile(r"[+-]?[0-9]{1,19}", re.ASCII)
_MOST_PORTS = 64
_MOST_RULES = 256
_MOST_VALUES = 10_000
_EFFECTS = ("", "NoSchedule", "PreferNoSchedule", "NoExecute")


def demand_of(spec: Json) -> NodeDemand:
    """
    Read node selector, required node affinity and tolerations.
    """
    selector = texts(spec, "nodeSelector", "spec")
    affinity = mapping(mapping(spec, "affinity", "spec"), "nodeAffinity", "affinity")
    tolerations = tuple(_tolerations(spec))
    if not (selector or affinity or tolerations):
        return ANYWHERE
    return NodeDemand(
        selector=tuple(sorted(selector.items())),
        terms=_terms(affinity),
        tolerations=tuple(sorted(set(tolerations), key=repr)),
    )


def _tolerations(spec: Json) -> Iterator[Toleration]:
    found = few(records(spec, "tolerations", "spec"), "spec.tolerations", _MOST_RULES)
    for index, raw in enumerate(found):
        place = f"spec.tolerations[{index}]"
        operator = text(raw, "operator", place) or "Equal"
        key, effect = text(raw, "key", place), text(raw, "effect", place)
        if operator not in {"Equal", "Exists", "Lt", "Gt"}:
            raise FieldError(f"{place}.operator", f"{operator!r} is not known")
        if effect not in _EFFECTS:
            raise FieldError(f"{place}.effect", f"{effect!r} is not known")
        if not key and operator != "Exists":
            raise FieldError(place, "an empty key needs the operator Exists")
        if operator in {"Equal", "Exists"}:
            value = text(raw, "value", place)
            yield Toleration(key=key, operator=operator, value=value, effect=effect)


def _terms(affinity: Json) -> Terms | None:
    required = affinity.get(_REQUIRED)
    if required is None:
        return None
    place = f"{_AFFINITY}.{_REQUIRED}"
    found = selector_terms(mapping(affinity, _REQUIRED, _AFFINITY), place)
    if not found:
        raise FieldError(f"{place}.nodeSelectorTerms", "the list is empty")
    return found


def selector_terms(selector: Json, place: str) -> Terms:
    """
    Read a node selector, each term once.
    """
    raw = records(selector, "nodeSelectorTerms", place)
    terms = {tuple(sorted(_rules(term, place), key=repr)) for term in raw}
    few_rules([rule for term in terms for rule in term], place)
    return tuple(sorted(terms, key=repr))


def few_rules(rules: Sequence[LabelRule], place: str) -> None:
    """
    Refuse a selector that takes long to evaluate, for each node or pod there is.
    """
    few(rules, place, _MOST_RULES)
    few([value for rule in rules for value in rule.values], place, _MOST_VALUES)


def _rules(term: Json, place: str) -> Iterator[LabelRule]:
    for raw in records(term, "matchExpressions", place):
        yield _rule(raw, text(raw, "key", place), place)
    for raw in records(term, "matchFields", place):
        field = text(raw, "key", place)
        if field != "metadata.name":
            raise FieldError(f"{place}.matchFields", f"{field!r} is not a known field")
        yield _rule(raw, NAME_FIELD, place)


def _rule(raw: Json, key: str, place: str) -> LabelRule:
    said = text(raw, "operator", place)
    if said not in _OPERATORS:
        raise FieldError(f"{place}.operator", f"{said!r} is not known")
    operator: Operator = said  # type: ignore[assignment]
    values = [str(value) for value in items(raw, "values", place)]
    if operator in {"Gt", "Lt"} and (
        len(values) != 1 or not _WHOLE.fullmatch(values[0])
    ):
        what = f"the operator {operator} needs one whole number"
        raise FieldError(f"{place}.values", what)
    if operator in {"In", "NotIn"} and not values:
        raise FieldError(f"{place}.values", f"the operator {operator} needs values")
    return LabelRule(key=key, operator=operator, values=tuple(sorted(set(values))))


def unsupported_of(spec: Json) -> Iterator[str]:
    """
    Name every constraint that we do not model, with the field and why.
    """
    yield from asked_by_resource(spec)
    yield from _tolerations_by_number(spec)


def _tolerations_by_number(spec: Json) -> Iterator[str]:
    for index, raw in enumerate(records(spec, "tolerations", "spec")):
        field = f"spec.tolerations[{index}].operator"
        if text(raw, "operator", f"spec.tolerations[{index}]") in {"Lt", "Gt"}:
            yield f"{field}: {raw['operator']} is not planned"


def host_ports_of(spec: Json) -> Resources:
    """
    Read the ports of its host that a pod uses for as long as it runs.

    On the network of its host every port of a container is one.
    """
    found: dict[str, int] = {}
    own = spec.get("hostNetwork") is True
    for word in ("containers", "initContainers"):
        for index, container in enumerate(records(spec, word, "spec")):
            if word == "initContainers" and container.get("restartPolicy") != "Always":
                continue
            place = f"spec.{word}[{index}].ports"
            for port in records(container, "ports", f"spec.{word}[{index}]"):
                number = whole(port, "hostPort", place)
                if own and not number:
                    number = whole(port, "containerPort", place)
                if number:
                    protocol = text(port, "protocol", place) or "TCP"
                    address = text(port, "hostIP", place)
                    found |= _more_of(found, port_requests(number, protocol, address))
    if len(found) > _MOST_PORTS:
        raise FieldError("spec.containers", f"more than {_MOST_PORTS} ports of a host")
    return found


def _more_of(found: Resources, port: Resources) -> Resources:
    return {name: max(amount, found.get(name, 0)) for name, amount in port.items()}


def volumes_of(spec: Json, pod: str) -> tuple[str, ...]:
    """
    List the claims of volumes that the pod mounts.
    """
    found: list[str] = []
    for index, volume in enumerate(records(spec, "volumes", "spec")):
        place = f"spec.volumes[{index}]"
        if volume.get("ephemeral") is not None:
            found.append(f"{pod}-{text(volume, 'name', place)}")
        elif volume.get("persistentVolumeClaim") is not None:
            claim = mapping(volume, "persistentVolumeClaim", place)
            found.append(text(claim, "claimName", place))
    return tuple(found)


def ephemeral_of(spec: Json, pod: str) -> frozenset[str]:
    """
    Name the claims that are made for this pod alone, and deleted with it.
    """
    return frozenset(
        f"{pod}-{text(volume, 'name', 'spec.volumes')}"
        for volume in records(spec, "volumes", "spec")
        if volume.get("ephemeral") is not None
    )
