"""
Lent nodes: what runs on nodes that are held for a gang which waits.
"""

from collections.abc import Iterable

from models.plan import Hold


class LentNodes:
    """
    The GPUs of pods that were bound on nodes while these were held for another gang.

    ``held`` are GPUs that idle since they are held.
    """

    def __init__(self) -> None:
        self.held = 0
        self._pods: dict[str, dict[str, int]] = {}

    def planned(self, holds: Iterable[Hold], held: int) -> None:
        """
        Let these nodes be held, and no others, from now on.
        """
        self.held = held
        nodes = sorted({node for hold in holds for node in hold.nodes})
        self._pods = {node: self._pods.get(node, {}) for node in nodes}

    def bind(self, pod: str, node: str, gpus: int) -> None:
        """
        Note a pod that is bound; what is not held is not lent.
        """
        if node in self._pods:
            self._pods[node][pod] = gpus

    def leave(self, pod: str, node: str) -> int:
        """
        Note a pod that leaves; give the GPUs that were lent to it.
        """
        return self._pods[node].pop(pod, 0) if node in self._pods else 0

    @property
    def gpus(self) -> int:
        """
        Count the GPUs that are lent.
        """
        return sum(sum(pods.values()) for pods in self._pods.values())

    def document(self) -> dict[str, dict[str, int]]:
        """
        Give what a checkpoint keeps.
        """
        return self._pods

    def restore(self, document: dict[str, dict[str, int]]) -> None:
        """
        Take what a checkpoint kept; how much idles is planned anew.
        """
        self._pods = document
