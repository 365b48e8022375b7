"""
Claims told how they get their volume: the node of their pod, or a volume that is free.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from adapters.kube.acting.claim_writer import ClaimWriter
from adapters.kube.acting.operations import NO_ANSWER, Answer, Deeds
from adapters.kube.acting.pod_claims import PodClaims
from adapters.kube.acting.volume_choice import VolumeChoice
from adapters.kube.acting.volume_writer import VolumeWriter
from adapters.kube.objects.volume_records import ClaimRecord
from adapters.kube.watch.cache import Cache
from models.plan import Operation


@dataclass(slots=True, eq=False)
class ToldClaims:
    """
    What the claims of a gang were told; ``nodes`` are those that each is for.

    ``claims`` are those that know theirs, ``volumes`` those that were given to claims,
    each with the version in which it was told; 0 where somebody else did.
    """

    nodes: dict[str, str]
    claims: dict[str, int] = field(default_factory=dict)
    volumes: dict[str, tuple[str, int]] = field(default_factory=dict)


class ClaimTeller:
    """
    Tells claims, and takes back what they were told.
    """

    def __init__(self, deeds: Deeds, cache: Cache, claims: PodClaims) -> None:
        self._claims = ClaimWriter(deeds.transport, deeds.allowed)
        self._volumes = VolumeWriter(deeds.transport, deeds.allowed)
        self._choice = VolumeChoice(cache, claims)

    def turn(self, steps: Sequence[Operation], held: Iterable[ToldClaims]) -> None:
        """
        Choose the free volumes for the claims of another plan.
        """
        given = {volume for told in held for volume, _ in told.volumes.values()}
        self._choice.turn(steps, given)

    def tell(
        self, told: ToldClaims, key: str, claim: ClaimRecord, number: int
    ) -> Answer:
        """
        Tell a claim in some version how it gets its volume.
        """
        if key not in told.nodes or key in told.claims or key in told.volumes:
            return NO_ANSWER
        if volume := self._choice.kept_for(claim):
            told.volumes[key] = volume, 0
            return NO_ANSWER
        if self._choice.of(key) or self._choice.is_static(key, claim):
            return self._give(told, key, claim)
        return self._tell_node(told, key, claim, number)

    def _tell_node(
        self, told: ToldClaims, key: str, claim: ClaimRecord, number: int
    ) -> Answer:
        node = told.nodes[key]
        if claim.node and claim.node != node:
            return "again", f"claim {key} is for a pod on node {claim.node}"
        version: int | Answer = number
        if not claim.node:
            version = self._claims.tell(replace(claim, version=str(number)), node)
        if not isinstance(version, int):
            return version
        told.claims[key] = version
        return NO_ANSWER

    def _give(self, told: ToldClaims, key: str, claim: ClaimRecord) -> Answer:
        volume = self._choice.of(key)
        if not volume:
            return (
                "again",
                f"no free volume on node {told.nodes[key]} suits claim {key}",
            )
        version = self._volumes.give(volume, claim)
        if not isinstance(version, int):
            return version
        told.volumes[key] = volume, version
        return NO_ANSWER

    def why_over(self, told: ToldClaims, key: str, claim: ClaimRecord) -> str:
        """
        Say why a claim without a volume will get none; nothing where it may.
        """
        if key in told.volumes:
            lost = self._choice.why_lost(
                told.volumes[key][0], claim, told.volumes[key][1]
            )
            return lost and f"claim {key}: {lost}"
        if key in told.nodes and claim.node != told.nodes[key]:
            return f"claim {key} got no volume: its provisioner has given up"
        return ""

    def let_go(self, told: ToldClaims) -> None:
        """
        Take back what claims without a volume were told.
        """
        for key in told.claims:
            self._claims.untell(key, told.nodes[key])
        for key, (volume, version) in told.volumes.items():
            if version:
                self._volumes.take_back(volume, key)
