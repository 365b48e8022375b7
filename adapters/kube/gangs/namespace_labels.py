"""
Labels of namespaces, which terms of pods mean by them, and which are being deleted.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.notes import named
from adapters.kube.dialects.protocol import Objects
from adapters.kube.objects.fields import FieldError, mapping, texts
from adapters.kube.objects.pod_terms import OWN_NAME, PodSelector, PodTerms

NAMESPACE = ("", "Namespace")


@dataclass(frozen=True, slots=True)
class NamespaceLabels:
    """
    The labels of each namespace that is known; none are where no object is there.
    """

    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def terms(self, terms: PodTerms, known: dict[PodSelector, PodSelector]) -> PodTerms:
        """
        Say which namespaces terms mean; ``known`` keeps what was found of selectors.
        """
        if not any(each.is_open for each in terms.selectors()):
            return terms
        return replace(
            terms,
            near=tuple((self._told(s, known), key) for s, key in terms.near),
            apart=tuple((self._told(s, known), key) for s, key in terms.apart),
            preferred=tuple(
                (self._told(s, known), k, n) for s, k, n in terms.preferred
            ),
        )

    def _told(
        self, selector: PodSelector, known: dict[PodSelector, PodSelector]
    ) -> PodSelector:
        if not selector.is_open or not self.labels:
            return selector
        if selector not in known:
            meant = {
                name
                for name, labels in self.labels.items()
                if all(rule.holds(labels) for rule in selector.by_labels)
            }
            spaces = tuple(sorted(meant.union(selector.named)))
            known[selector] = replace(selector, spaces=spaces)
        return known[selector]


def ending_namespaces(objects: Objects) -> frozenset[str]:
    """
    Name the namespaces that are being deleted, in which a server lets nothing start.
    """
    raws = objects.of(*NAMESPACE)
    return objects.memo.made_once("ending", (raws,), lambda: frozenset(_ending(raws)))


def _ending(raws: tuple[Raw, ...]) -> Iterator[str]:
    for _, name, raw in named(raws):
        try:
            if mapping(raw, "metadata").get("deletionTimestamp") is not None:
                yield name
        except FieldError:
            continue


def namespace_labels(raws: tuple[Raw, ...]) -> NamespaceLabels:
    """
    Read the labels of namespaces; each has its own name as one.
    """
    found: dict[str, Mapping[str, str]] = {}
    for _, name, raw in named(raws):
        try:
            labels = texts(mapping(raw, "metadata"), "labels", "metadata")
        except FieldError:
            labels = {}
        found[name] = {**labels, OWN_NAME: name}
    return NamespaceLabels(found)
