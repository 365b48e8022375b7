"""
What is there and plays no part, or not all that it should: counted, and said.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from adapters.kube.dialects.protocol import Objects
from adapters.kube.gangs.workloads.wanted_pods import without_pods
from adapters.kube.objects.pod_record import PodRecord
from adapters.kube.objects.unread_fields import counted_kinds
from models.why.reasons import counted

_MOST_FAULTS = 50


@dataclass(frozen=True, slots=True)
class PassedOver:
    """
    What is passed over in one namespace.

    ``empty`` are workloads without pods, ``words`` those of our pods that are not read,
    by the number of pods.  ``faults`` are those of counted pods of others: the first
    pod of each, and how many there are.  ``load`` and ``ignored`` count pods of others
    by scheduler: those that run, and those that wait.
    """

    empty: tuple[tuple[str, str, str], ...] = ()
    words: Mapping[str, int] = field(default_factory=dict)
    faults: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    load: Mapping[str, int] = field(default_factory=dict)
    ignored: Mapping[str, int] = field(default_factory=dict)


def passed_over(
    objects: Objects, ours: list[PodRecord], others: list[PodRecord]
) -> PassedOver:
    """
    Look at one namespace.
    """
    faults: dict[str, tuple[str, int]] = {}
    for pod in others:
        if pod.invalid and pod.node is not None and not pod.uncounted:
            first, number = faults.get(pod.invalid[0], (pod.key, 0))
            faults[pod.invalid[0]] = first, number + 1
    return PassedOver(
        empty=tuple(key[:3] for key in without_pods(objects, [*ours, *others])),
        words=Counter([word for pod in ours for word in pod.unread]),
        faults=faults,
        load=Counter([pod.scheduler for pod in others if pod.node is not None]),
        ignored=Counter([pod.scheduler for pod in others if pod.node is None]),
    )


def said_of(unread: Mapping[str, int], found: Iterable[PassedOver]) -> Iterator[str]:
    """
    Say what is passed over in all namespaces, and which kinds are not read.
    """
    everywhere = list(found)
    yield from _empty(sorted(each for one in everywhere for each in one.empty))
    words: Counter[str] = Counter()
    for one in everywhere:
        words.update(one.words)
    parts = [*counted_kinds(unread)]
    parts += [
        f"{counted(number, 'pod')} with {word}"
        for word, number in sorted(words.items())
    ]
    if parts:
        yield f"not read: {', '.join(parts)}"
    yield from _half_read(everywhere)


def _empty(found: list[tuple[str, str, str]]) -> Iterator[str]:
    """
    Say which workloads are not planned, since none of their pods is there.
    """
    names = sorted(f"{kind} {namespace}/{name}" for namespace, kind, name in found)
    if names:
        more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
        yield (
            f"no pods are there of {', '.join(names[:3])}{more}: they are planned once "
            "their controllers have made them; a file needs the pods too"
        )


def _half_read(found: Iterable[PassedOver]) -> Iterator[str]:
    """
    Say which running pods of others are counted, though not all of them can be read.

    One sentence for each fault: a tenant may have any number of such pods.
    """
    by_fault: dict[str, tuple[str, int]] = {}
    for one in found:
        for fault, (pod, number) in one.faults.items():
            first, before = by_fault.get(fault, (pod, 0))
            by_fault[fault] = first, before + number
    for fault, (pod, number) in list(by_fault.items())[:_MOST_FAULTS]:
        more = f" and {number - 1:,} more" if number > 1 else ""
        yield f"pod {pod}{more} is counted, but cannot be read whole: {fault}"
    if (left := len(by_fault) - _MOST_FAULTS) > 0:
        yield f"running pods have {left:,} more faults of this kind"
