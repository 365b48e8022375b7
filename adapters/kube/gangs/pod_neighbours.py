"""
Neighbours: who selects each pod, and what it asks of the pods around it.

Kubernetes means anti-affinity both ways, so the pods of others count too.  Pods that
keep all others of their gang off their host are ``exclusive``, and no more is said.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from adapters.kube.gangs.namespace_labels import NamespaceLabels
from adapters.kube.objects.pod_record import PodRecord
from adapters.kube.objects.pod_terms import PodSelector, PodTerms
from models.gangs import FINISHED, PodPhase
from models.neighbours import ALONE, Apart, Near, Neighbours, Preferred
from models.nodes import HOSTNAME

FOREIGN = ""
"""
The gang of pods of others.
"""
_MOST_SELECTORS = 2_000
_Others = Mapping[str, tuple[tuple[Neighbours, int], ...]]


@dataclass(slots=True)
class Around:
    """
    What is said of pods by name, of nodes with pods of others, and of gangs refused.

    Of pods that run it says why what they ask for is not known: they are ``kept``.
    """

    exclusive: set[str] = field(default_factory=set)
    said: dict[str, Neighbours] = field(default_factory=dict)
    others: _Others = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    kept: dict[str, str] = field(default_factory=dict)

    def of(self, gang: str, pods: Iterable[str]) -> object:
        """
        Give what is said of one gang and its pods, to compare.
        """
        pods = frozenset(pods)
        alone = pods & self.exclusive if self.exclusive else None
        said = {pod: self.said[pod] for pod in pods if pod in self.said}
        return self.reasons.get(gang), alone, said, self.kept.keys() & pods


def terms_of_all(
    pods: Iterable[PodRecord], labels: NamespaceLabels
) -> dict[str, PodTerms]:
    """
    Give what pods ask for by name, with the namespaces that they mean by labels.
    """
    known: dict[PodSelector, PodSelector] = {}
    return {pod.key: labels.terms(pod.terms, known) for pod in pods}


def concerned(
    pods: Iterable[PodRecord], terms: Mapping[str, PodTerms]
) -> tuple[bool, set[str]]:
    """
    Name the namespaces whose pods some pods are near to or apart from; or all are.
    """
    spaces: set[str] = set()
    everywhere = False
    for pod in pods:
        spaces.add(pod.namespace)
        for selector in terms[pod.key].selectors():
            everywhere = everywhere or selector.spaces is None
            spaces.update(selector.spaces or ())
    return everywhere, spaces


def around_of(
    gangs: Mapping[str, Sequence[PodRecord]], terms: Mapping[str, PodTerms]
) -> Around:
    """
    Say who selects whom, by what each pod asks for; others stand under ``FOREIGN``.
    """
    alive = {
        gang: [pod for pod in pods if pod.phase not in FINISHED]
        for gang, pods in gangs.items()
    }
    return _Neighbourhood(alive, terms).around()


class _Neighbourhood:
    """
    The unfinished pods by gang, and the selectors that matter for ours.

    A gang that runs may be moved for one that waits, and then starts by its own rules.
    """

    def __init__(
        self, gangs: Mapping[str, Sequence[PodRecord]], terms: Mapping[str, PodTerms]
    ) -> None:
        self._gangs = gangs
        self._terms = terms
        self._waiting = {
            gang: any(pod.node is None for pod in pods)
            for gang, pods in gangs.items()
            if gang != FOREIGN
        }
        self._index = _Index(gangs)
        self._names: dict[tuple[object, ...], str] = {}
        self._selected: dict[str, set[tuple[str, str]]] = {}
        self._exclusive: dict[tuple[PodSelector, str], bool] = {}
        self._found = Around()

    def around(self) -> Around:
        """
        Go through all pods that ask for something.
        """
        asked = {
            pod.key: self._asked(gang, pod, self._terms[pod.key])
            for gang, pods in sorted(self._gangs.items(), key=self._comes)
            for pod in pods
            if pod.key in self._terms and (gang != FOREIGN or pod.node is not None)
        }
        here: dict[str, dict[Neighbours, int]] = {}
        for gang, pods in self._gangs.items():
            for pod in pods:
                said = self._said(pod, asked.get(pod.key, ALONE))
                if said == ALONE:
                    continue
                if gang != FOREIGN:
                    self._found.said[pod.key] = said
                elif pod.node is not None:
                    row = here.setdefault(pod.node, {})
                    row[said] = row.get(said, 0) + 1
        self._found.others = {
            node: tuple(sorted(row.items(), key=repr)) for node, row in here.items()
        }
        return self._found

    def _comes(self, item: tuple[str, Sequence[PodRecord]]) -> tuple[bool, int]:
        """
        Put gangs that wait first, then those who ask for least.

        Too many selectors refuse none of them for those of others.
        """
        gang, pods = item
        terms = [self._terms[pod.key] for pod in pods if pod.key in self._terms]
        each = {id(those): those for those in terms}.values()
        asked = {selector for those in each for selector in those.selectors()}
        return not self._waiting.get(gang, False), len(asked)

    def _said(self, pod: PodRecord, asked: Neighbours) -> Neighbours:
        gone = pod.phase is PodPhase.TERMINATING
        # Who ends is still there for those apart from it, and for nobody else.
        passed = (_SPREAD, _PREFERENCE) if gone else (_PREFERENCE,)
        found = sorted(self._selected.get(pod.key, ()))
        return Neighbours(
            selected=tuple(name for name, prefix in found if prefix not in passed),
            preferred=asked.preferred,
            preferred_by=tuple(
                name for name, prefix in found if prefix == _PREFERENCE and not gone
            ),
            near=asked.near,
            apart=asked.apart,
            spread=asked.spread,
        )

    def _asked(self, gang: str, pod: PodRecord, terms: PodTerms) -> Neighbours:
        """
        Name the selectors that a pod asks by, of those that matter.
        """
        waits = self._waiting.get(gang, False)
        unclear = any(selector.is_open for selector in terms.required())
        if waits and unclear:
            self._found.reasons.setdefault(gang, f"pod {pod.name}, {_OPEN}")
        if unclear and gang != FOREIGN:
            self._found.kept[pod.key] = f"pod {pod.name}, {_OPEN}"
        comes = waits or (gang != FOREIGN and not unclear)
        who = gang if waits else FOREIGN
        near = None
        if comes and terms.near:
            name = self._name(tuple(selector for selector, _ in terms.near), who)
            near = Near(name, tuple(sorted({key for _, key in terms.near})))
        spread = {
            rule._replace(pods=self._name((selector,), who, _SPREAD))
            for selector, rule in (terms.spread if comes else ())
        }
        apart = self._apart(gang, pod, terms, comes=comes)
        return Neighbours(
            near=near,
            apart=tuple(sorted(set(apart))),
            spread=tuple(sorted(spread)),
            preferred=self._preferred(gang, terms) if waits else (),
        )

    def _preferred(self, gang: str, terms: PodTerms) -> tuple[Preferred, ...]:
        """
        Name the selectors that a pod prefers, as long as there are not too many.
        """
        found: dict[tuple[str, str], int] = {}
        for selector, key, weight in terms.preferred:
            known = (selector, _PREFERENCE) in self._names
            if selector.is_open or not (known or len(self._names) < _MOST_SELECTORS):
                continue
            name = self._name((selector,), gang, _PREFERENCE)
            found[name, key] = found.get((name, key), 0) + weight
        return tuple(sorted(Preferred(*pair, n) for pair, n in found.items() if n))

    def _apart(
        self, gang: str, pod: PodRecord, terms: PodTerms, *, comes: bool
    ) -> Iterator[Apart]:
        who = gang if self._waiting.get(gang, False) else FOREIGN
        for selector, key in terms.apart:
            if self._is_exclusive(gang, selector, key):
                self._found.exclusive.add(pod.key)
                continue
            if comes or self._hits_ours(selector):
                yield Apart(self._name((selector,), who), key)

    def _is_exclusive(self, gang: str, selector: PodSelector, key: str) -> bool:
        """
        Tell whether a rule is over all pods of one gang, by host, and no others.
        """
        at = selector, gang
        if key != HOSTNAME or gang == FOREIGN:
            return False
        if at not in self._exclusive:
            hits = self._index.selected(selector)
            mine = sum(of == gang for _, of in hits)
            self._exclusive[at] = 1 < mine == len(hits) == len(self._gangs[gang])
        return self._exclusive[at]

    def _hits_ours(self, selector: PodSelector) -> bool:
        """
        Tell whether a selector selects a pod of ours.
        """
        return any(gang != FOREIGN for _, gang in self._index.selected(selector))

    def _name(
        self, selectors: tuple[PodSelector, ...], gang: str, prefix: str = ""
    ) -> str:
        """
        Name the pods that all of some selectors select.
        """
        known = (*selectors, prefix)
        if known in self._names:
            return self._names[known]
        if len(self._names) >= _MOST_SELECTORS and gang != FOREIGN:
            what = f"more than {_MOST_SELECTORS:,} selectors of pods are not planned"
            self._found.reasons.setdefault(gang, f"spec.affinity: {what}")
        said = prefix + " and ".join(dict.fromkeys(map(str, selectors)))
        taken = set(self._names.values())
        name, at = said, 2
        while name in taken:
            name, at = f"{said} #{at}", at + 1
        self._names[known] = name
        first, *rest = selectors
        for pod, _ in self._index.selected(first):
            if all(each.selects(pod.namespace, pod.labels) for each in rest):
                self._selected.setdefault(pod.key, set()).add((name, prefix))
        return name


_SPREAD, _PREFERENCE = "live ", "preferred "
_OPEN = (
    "spec.affinity: namespaceSelector: namespaces are meant by their labels, "
    "and no Namespace is among the objects"
)


class _Index:
    """
    Unfinished pods by namespace, and by label where a selector names one.
    """

    def __init__(self, gangs: Mapping[str, Iterable[PodRecord]]) -> None:
        self._all: dict[str, list[tuple[PodRecord, str]]] = {}
        self._by_label: dict[tuple[str, str], list[tuple[PodRecord, str]]] = {}
        self._known: dict[PodSelector, list[tuple[PodRecord, str]]] = {}
        for gang, pods in gangs.items():
            for pod in pods:
                self._all.setdefault(pod.namespace, []).append((pod, gang))
                for label in pod.labels.items():
                    self._by_label.setdefault(label, []).append((pod, gang))

    def selected(self, selector: PodSelector) -> list[tuple[PodRecord, str]]:
        """
        List the pods that a selector selects.
        """
        if selector not in self._known:
            self._known[selector] = [
                (pod, gang)
                for pod, gang in self._near(selector)
                if selector.selects(pod.namespace, pod.labels)
            ]
        return self._known[selector]

    def _near(self, selector: PodSelector) -> Iterable[tuple[PodRecord, str]]:
        if selector.rules is None:
            return ()
        if selector.label is not None:
            return self._by_label.get(selector.label, ())
        spaces = self._all if selector.spaces is None else selector.spaces
        return (hit for space in spaces for hit in self._all.get(space, ()))
