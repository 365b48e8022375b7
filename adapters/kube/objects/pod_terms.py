"""
What pods ask of the pods around them: affinity, anti-affinity, spread.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from adapters.kube.objects.constraints import few_rules
from adapters.kube.objects.fields import (
    FieldError,
    Json,
    few,
    mapping,
    records,
    text,
    words,
)
from adapters.kube.objects.fields import whole as number
from adapters.kube.objects.volume_records import selector_rules
from models.neighbours import Spread
from models.nodes import LabelRule

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_PLACE = "spec.affinity"
OWN_NAME = "kubernetes.io/metadata.name"
_MOST_SHOWN = 120
_MOST_WEIGHT = 100
_MOST_REQUIRED = 16
_MOST_TERMS = 64
_MOST_SPACES = 1_000
_TERMS = "spec.affinity or spec.topologySpreadConstraints"


@dataclass(frozen=True, slots=True)
class PodSelector:
    """
    Which pods are meant: in some namespaces or all, by rules on labels, or none at all.

    ``by_labels`` are rules on labels of namespaces: until somebody who knows these has
    looked they are of all, and then ``spaces`` names them.
    """

    spaces: tuple[str, ...] | None
    rules: tuple[LabelRule, ...] | None
    by_labels: tuple[LabelRule, ...] = ()
    named: tuple[str, ...] = ()

    def selects(self, namespace: str, labels: Mapping[str, str]) -> bool:
        """
        Tell whether a pod is meant.
        """
        if self.rules is None or not (self.spaces is None or namespace in self.spaces):
            return False
        return all(rule.holds(labels) for rule in self.rules)

    @property
    def label(self) -> tuple[str, str] | None:
        """
        Give a label that everything meant has.
        """
        for rule in self.rules or ():
            if rule.operator == "In" and len(rule.values) == 1:
                return rule.key, rule.values[0]
        return None

    def __str__(self) -> str:
        """
        Say it as people do.
        """
        rules = [_shown(rule) for rule in self.rules or ()] or ["pods"]
        return f"{', '.join(rules)} in {self._where()}"[:_MOST_SHOWN]

    def _where(self) -> str:
        if self.by_labels:
            meant = f"namespaces with {', '.join(map(_shown, self.by_labels))}"
            return ", ".join((*self.named, meant))
        return "all namespaces" if self.spaces is None else ", ".join(self.spaces)

    @property
    def all_rules(self) -> tuple[LabelRule, ...]:
        """
        Give the rules on labels of pods and of namespaces.
        """
        return (*(self.rules or ()), *self.by_labels)

    @property
    def is_open(self) -> bool:
        """
        Tell whether it is not known which namespaces are meant.
        """
        return self.spaces is None and bool(self.by_labels)


@dataclass(frozen=True, slots=True, kw_only=True)
class PodTerms:
    """
    Selectors of pods with topology keys: to be near to, apart from, or spread among.

    What is ``preferred`` has a weight, below 0 where it is to be apart from these.
    """

    near: tuple[tuple[PodSelector, str], ...] = ()
    apart: tuple[tuple[PodSelector, str], ...] = ()
    spread: tuple[tuple[PodSelector, Spread], ...] = ()
    preferred: tuple[tuple[PodSelector, str, int], ...] = ()

    def __bool__(self) -> bool:
        """
        Tell whether anything is asked that must hold.
        """
        return bool(self.near or self.apart or self.spread)

    def required(self) -> Iterator[PodSelector]:
        """
        Walk the selectors of what must hold.
        """
        for selector, _ in (*self.near, *self.apart, *self.spread):
            yield selector

    def selectors(self) -> Iterator[PodSelector]:
        """
        Walk all selectors.
        """
        yield from self.required()
        for selector, _, _ in self.preferred:
            yield selector


NO_TERMS = PodTerms()


def terms_of(spec: Json, namespace: str, labels: Mapping[str, str]) -> PodTerms:
    """
    Read what a pod asks of those around it.
    """
    found = PodTerms(
        near=tuple(_terms(spec, "podAffinity", namespace, labels)),
        apart=tuple(_terms(spec, "podAntiAffinity", namespace, labels)),
        spread=tuple(_spread(spec, namespace, labels)),
        preferred=tuple(_preferred(spec, namespace, labels)),
    )
    few(list(found.required()), _TERMS, _MOST_REQUIRED)
    selectors = few(list(found.selectors()), _TERMS, _MOST_TERMS)
    spaces = [space for each in selectors for space in each.spaces or each.named]
    few(spaces, _TERMS, _MOST_SPACES)
    few_rules([rule for each in selectors for rule in each.all_rules], _TERMS)
    return found


def _raw_terms(spec: Json, word: str) -> tuple[Json, ...]:
    affinity = mapping(mapping(spec, "affinity", "spec"), word, _PLACE)
    return tuple(records(affinity, _REQUIRED, f"{_PLACE}.{word}"))


def _terms(
    spec: Json, word: str, namespace: str, labels: Mapping[str, str]
) -> Iterator[tuple[PodSelector, str]]:
    place = f"{_PLACE}.{word}.{_REQUIRED}"
    for term in _raw_terms(spec, word):
        key = text(term, "topologyKey", place)
        if not key:
            raise FieldError(f"{place}.topologyKey", "no key is given")
        yield _selector(term, namespace, place, _rules(term, labels, place)), key


def _preferred(
    spec: Json, namespace: str, labels: Mapping[str, str]
) -> Iterator[tuple[PodSelector, str, int]]:
    """
    Read what a pod prefers; what cannot be read of that is left out.
    """
    for word, sign in (("podAffinity", 1), ("podAntiAffinity", -1)):
        place = f"{_PLACE}.{word}.{_PREFERRED}"
        with suppress(FieldError):
            affinity = mapping(mapping(spec, "affinity", "spec"), word, _PLACE)
            for raw in records(affinity, _PREFERRED, f"{_PLACE}.{word}"):
                term = mapping(raw, "podAffinityTerm", place)
                key, weight = text(term, "topologyKey", place), number(raw, "weight")
                if key and weight and 0 < weight <= _MOST_WEIGHT:
                    rules = _rules(term, labels, place)
                    found = _selector(term, namespace, place, rules)
                    yield found, key, sign * weight


def _selector(
    term: Json, namespace: str, place: str, rules: tuple[LabelRule, ...] | None
) -> PodSelector:
    """
    Read which namespaces a term means.
    """
    named = set(words(term, "namespaces", place))
    if term.get("namespaceSelector") is None:
        return PodSelector(tuple(sorted(named or {namespace})), rules)
    selector = mapping(term, "namespaceSelector", place)
    labels = selector_rules(selector, f"{place}.namespaceSelector")
    if len(labels) == 1 and (labels[0].key, labels[0].operator) == (OWN_NAME, "In"):
        return PodSelector(tuple(sorted(named | set(labels[0].values))), rules)
    return PodSelector(None, rules, labels, tuple(sorted(named)) if labels else ())


def _rules(
    term: Json, labels: Mapping[str, str], place: str
) -> tuple[LabelRule, ...] | None:
    """
    Read the selector of a term, with the pod's own labels where it says so.
    """
    if term.get("labelSelector") is None:
        return None
    rules = {*selector_rules(mapping(term, "labelSelector", place), place)}
    for word, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")):
        for key in words(term, word, place):
            if key in labels:
                rules.add(
                    LabelRule(key=key, operator=operator, values=(labels[key],))  # type: ignore[arg-type]
                )
    return tuple(sorted(rules, key=repr))


def _spread(
    spec: Json, namespace: str, labels: Mapping[str, str]
) -> Iterator[tuple[PodSelector, Spread]]:
    for index, raw in enumerate(records(spec, "topologySpreadConstraints", "spec")):
        place = f"spec.topologySpreadConstraints[{index}]"
        if text(raw, "whenUnsatisfiable", place) == "ScheduleAnyway":
            continue
        key, skew = text(raw, "topologyKey", place), number(raw, "maxSkew", place)
        if not key:
            raise FieldError(f"{place}.topologyKey", "no key is given")
        rules = _rules(raw, labels, place)
        rule = Spread(
            pods="",
            key=key,
            skew=max(1, skew or 1),
            domains=max(1, number(raw, "minDomains", place) or 1),
            by_affinity=text(raw, "nodeAffinityPolicy", place) != "Ignore",
            by_taints=text(raw, "nodeTaintsPolicy", place) == "Honor",
        )
        # An empty selector counts nobody, as in Kubernetes.
        yield PodSelector((namespace,), rules or None), rule


def _shown(rule: LabelRule) -> str:
    values = ", ".join(rule.values)
    match rule.operator:
        case "In":
            return (
                f"{rule.key}={values}"
                if len(rule.values) == 1
                else (f"{rule.key} in ({values})")
            )
        case "NotIn":
            return f"{rule.key} not in ({values})"
        case "Exists":
            return rule.key
        case _:
            return f"!{rule.key}"
