"""
Disruption budgets: how many pods of the gangs that one selects may still be disturbed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from adapters.kube.api.api_resources import Raw
from adapters.kube.dialects.notes import named
from adapters.kube.objects.fields import FieldError, Json, mapping, shown, whole
from adapters.kube.objects.pod_record import PodRecord
from adapters.kube.objects.volume_records import selector_rules
from models.gangs import FINISHED, DisruptionBudget, PodPhase

_MOST = 1_000_000


def budgets_of(
    raws: Iterable[Raw],
    gangs: Mapping[str, Sequence[PodRecord]],
    warnings: list[str],
) -> Iterator[DisruptionBudget]:
    """
    Read every budget that selects pods of ours; one that cannot be read allows none.

    Of those over the same gangs the one that allows least says it all.
    """
    tightest: dict[tuple[str, ...], DisruptionBudget] = {}
    for budget in _read(raws, gangs, warnings):
        held = tightest.setdefault(budget.gangs, budget)
        if (budget.allowed, budget.name) < (held.allowed, held.name):
            tightest[budget.gangs] = budget
    yield from tightest.values()


def _read(
    raws: Iterable[Raw],
    gangs: Mapping[str, Sequence[PodRecord]],
    warnings: list[str],
) -> Iterator[DisruptionBudget]:
    there: dict[str, list[tuple[PodRecord, str]]] = {}
    for gang, pods in gangs.items():
        for pod in pods:
            there.setdefault(pod.namespace, []).append((pod, gang))
    for namespace, name, raw in named(raws):
        spec = mapping(raw, "spec") if isinstance(raw.get("spec"), Mapping) else {}
        selector = spec.get("selector")
        if not isinstance(selector, Mapping):
            continue
        near = there.get(namespace, [])
        try:
            rules = selector_rules(selector, "spec.selector")
            near = [
                (pod, gang)
                for pod, gang in near
                if all(rule.holds(pod.labels) for rule in rules)
            ]
            allowed = _allowed(raw, spec, [pod for pod, _ in near])
        except FieldError as error:
            what = f"{error}; so it allows nothing"
            warnings.append(f"PodDisruptionBudget {namespace}/{name}: {what}")
            allowed = 0
        ours = sorted({gang for _, gang in near if gang})
        if ours:
            full = f"{namespace}.{name}"
            yield DisruptionBudget(name=full, gangs=tuple(ours), allowed=allowed)


def _allowed(raw: Json, spec: Json, pods: Sequence[PodRecord]) -> int:
    """
    Give what the cluster says is allowed, else count it.
    """
    said = whole(mapping(raw, "status"), "disruptionsAllowed", "status")
    if said is not None:
        return max(0, said)
    healthy = sum(pod.phase is PodPhase.RUNNING for pod in pods)
    total = _unfinished(pods)
    if spec.get("maxUnavailable") is not None:
        most = _part(spec, "maxUnavailable", total)
        return max(0, most - (total - healthy))
    if spec.get("minAvailable") is not None:
        return max(0, healthy - _part(spec, "minAvailable", total))
    return max(0, healthy - 1)


def _unfinished(pods: Iterable[PodRecord]) -> int:
    return sum(pod.phase not in FINISHED for pod in pods)


def _part(spec: Json, key: str, total: int) -> int:
    """
    Read a number of pods, or a share of them, rounded up.
    """
    value = spec[key]
    if isinstance(value, int) and not isinstance(value, bool):
        return min(max(0, value), _MOST)
    text = str(value).removesuffix("%")
    if isinstance(value, str) and text != value and text.isdecimal() and len(text) < 7:
        return -(-total * int(text) // 100)
    raise FieldError(f"spec.{key}", f"{shown(value)} is neither a number nor a share")
