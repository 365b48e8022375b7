"""
The claims of pods that are bound next, as the API server shows them.
"""

from collections.abc import Iterator, Mapping, Sequence

from adapters.kube.api.api_resources import Raw
from adapters.kube.gangs.kinds import CLAIMS, VOLUMES
from adapters.kube.objects.constraints import NAME_FIELD
from adapters.kube.objects.fields import FieldError
from adapters.kube.objects.volume_records import (
    ClaimRecord,
    VolumeRecord,
    claim_record,
    volume_record,
)
from adapters.kube.watch.cache import Cache
from models.nodes import one_holds
from models.plan import Operation


class PodClaims:
    """
    Reads the claims that pods mount.
    """

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def lack(self, steps: Sequence[Operation]) -> bool:
        """
        Tell whether claims of some pods must be bound first.
        """
        return any(
            claim is None or not claim.is_bound
            for step in steps
            for _, claim, _ in self.of(step)
        )

    def of(self, step: Operation) -> Iterator[tuple[str, ClaimRecord | None, int]]:
        """
        Walk the claims of a pod: their keys, what they are, and in which version.
        """
        for pod in self._cache.pods_named([step.pod]):
            for name in pod.volumes:
                key = f"{pod.namespace}/{name}"
                shelf = self._cache.shelf(CLAIMS)
                yield key, _read(shelf.records.get(key)), shelf.number(key) or 0

    def volumes(self) -> Iterator[str]:
        """
        Walk the names of volumes that claims say.
        """
        for raw in list(self._cache.shelf(CLAIMS).records.values()):
            said = raw["spec"].get("volumeName")
            if isinstance(said, str):
                yield said

    def why_elsewhere(self, claim: ClaimRecord, step: Operation) -> str:
        """
        Say why the volume of a claim is none for the node of its pod.
        """
        raw = self._cache.shelf(VOLUMES).records.get(claim.volume)
        if raw is None:
            return ""  # it may not have been heard of yet
        try:
            volume = volume_record(raw)
        except FieldError as error:
            return f"volume {claim.volume} cannot be read: {error}"
        return self.why_not_on(volume, step)

    def why_not_on(self, volume: VolumeRecord, step: Operation) -> str:
        """
        Say why a volume is none for the node of a pod.
        """
        node = self._cache.node(step.node)
        if node is None:
            return f"node {step.node} is gone"
        labels = self.labels_of(step)
        if all(one_holds(terms, labels) for terms in volume.demands):
            return ""
        return f"volume {volume.name} cannot be used on node {step.node}"

    def labels_of(self, step: Operation) -> Mapping[str, str]:
        """
        Give the labels of a pod's node, its name among them; none where it is gone.
        """
        node = self._cache.node(step.node)
        return {} if node is None else {**node.node.labels, NAME_FIELD: step.node}


def _read(raw: Raw | None) -> ClaimRecord | None:
    try:
        return None if raw is None else claim_record(raw)
    except FieldError:
        return None
