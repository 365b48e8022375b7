"""
Who is a member of a HyperNode: by name, by a pattern of names, or by labels.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from adapters.kube.api.api_resources import Raw
from adapters.kube.objects.fields import (
    FieldError,
    Json,
    mapping,
    records,
    shown,
    text,
)
from adapters.kube.objects.volume_records import selector_rules
from models.nodes import LabelRule

_SELECTORS = ("exactMatch", "regexMatch", "labelMatch")
_MOST_PATTERN = 253
_MOST_REPEATS = 4
_PLAIN = re.compile(
    r"(?:[^\\()\[\]{}?*+|]|\\[.dDwWsSbB$^\-_/]|\((?:\?:)?(?![?*+{])|\)|\|"
    r"|(?:[?*+]|\{\d+(?:,\d*)?\})\??(?![?*+{])"
    r"|\[\^?(?:[^\\\[\]]|\\[.dDwWsS\-\]])+\])*"
)
"""
Patterns that mean the same here and in Go.
"""
_REPEATED = re.compile(r"[*+]|\{\d+,\d*\}")
_OF_GROUP = re.compile(r"\)(?:[*+]|\{)")


@dataclass(frozen=True, slots=True)
class Members:
    """
    The members of one HyperNode, each with the place of its field.

    A node is named, or is one of those that a pattern or rules on labels choose.
    """

    hyper_nodes: tuple[tuple[str, str], ...] = ()
    named: tuple[tuple[str, str], ...] = ()
    patterns: tuple[tuple[str, re.Pattern[str]], ...] = ()
    labels: tuple[tuple[str, tuple[LabelRule, ...]], ...] = ()

    def nodes_among(
        self, nodes: Mapping[str, Mapping[str, str]]
    ) -> Iterator[tuple[str, str]]:
        """
        List the members among some nodes, given with their labels.
        """
        for place, name in self.named:
            if name in nodes:
                yield place, name
        if not (self.patterns or self.labels):
            return
        for name, labels in nodes.items():
            for place, pattern in self.patterns:
                if pattern.search(name):
                    yield place, name
            for place, rules in self.labels:
                if rules and all(rule.holds(labels) for rule in rules):
                    yield place, name


def members_of(raw: Raw) -> Members:
    """
    Read the members of a HyperNode.

    Raises
    ------
    FieldError
        When one cannot be read, with its field.
    """
    hyper_nodes: list[tuple[str, str]] = []
    nodes: list[tuple[str, str]] = []
    patterns: list[tuple[str, re.Pattern[str]]] = []
    labels: list[tuple[str, tuple[LabelRule, ...]]] = []
    for index, member in enumerate(records(mapping(raw, "spec"), "members", "spec")):
        place = f"spec.members[{index}].selector"
        selector = mapping(member, "selector", f"spec.members[{index}]")
        kind = text(member, "type", f"spec.members[{index}]")
        if kind not in {"Node", "HyperNode"}:
            what = f"{shown(kind)} is neither Node nor HyperNode"
            raise FieldError(f"spec.members[{index}].type", what)
        said = [word for word in _SELECTORS if selector.get(word) is not None]
        if len(said) != 1:
            what = f"one of {', '.join(_SELECTORS)} must be set, and no other"
            raise FieldError(place, what)
        inner = mapping(selector, said[0], place)
        place = f"{place}.{said[0]}"
        match kind, said[0]:
            case "HyperNode", "exactMatch":
                hyper_nodes.append((f"{place}.name", _name(inner, place)))
            case "HyperNode", _:
                raise FieldError(place, "HyperNodes are named by exactMatch alone")
            case _, "exactMatch":
                nodes.append((f"{place}.name", _name(inner, place)))
            case _, "regexMatch":
                patterns.append((f"{place}.pattern", _pattern(inner, place)))
            case _:
                labels.append((place, selector_rules(inner, place)))
    return Members(tuple(hyper_nodes), tuple(nodes), tuple(patterns), tuple(labels))


def _name(inner: Json, place: str) -> str:
    name = text(inner, "name", place)
    if not name:
        raise FieldError(f"{place}.name", "it must be set")
    return name


def _pattern(inner: Json, place: str) -> re.Pattern[str]:
    """
    Read a pattern; one that could take for ever, or means another thing in Go, is none.
    """
    said = text(inner, "pattern", place)
    field = f"{place}.pattern"
    if not said:
        raise FieldError(field, "it must be set")
    if len(said) > _MOST_PATTERN:
        raise FieldError(field, f"more than {_MOST_PATTERN} characters are not read")
    repeats = len(_REPEATED.findall(said))
    if repeats > _MOST_REPEATS or (repeats and _OF_GROUP.search(said)):
        what = f"{shown(said)} repeats too much: it could take too long"
        raise FieldError(field, what)
    try:
        if _PLAIN.fullmatch(said) is None:
            raise FieldError(
                field, f"{shown(said)} is not a pattern that Phalanx can read"
            )
        return re.compile(said, re.ASCII)
    except re.error as error:
        raise FieldError(field, f"{shown(said)}: {error}") from error
