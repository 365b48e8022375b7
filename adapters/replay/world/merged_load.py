"""
The load: what runs and may not leave, shown to a round as few large gangs.

A plan can only go round it, so whose pod it is does not matter; which queue pays, what
it asks for and where it is do.
"""

from adapters.replay.world.job_state import Fate
from models.devices.gpu_parts import GpuDevice
from models.gangs import Gang, Pod, PodPhase, PodSet, RunKind
from models.resources import Resources

NAMESPACE = "running"
Key = tuple[RunKind, int, bool, tuple[tuple[str, int], ...]]
"""
As whose its run time is counted (its queue), priority, whether it is preemptible, and
what a pod asks for.
"""


_Place = tuple[str, int, tuple[GpuDevice, ...]]


class Load:
    """
    Pods that run, by queue, priority and what they ask for.
    """

    def __init__(self) -> None:
        self.num_gangs = 0
        self._pods: dict[Key, dict[str, _Place]] = {}
        self._requests: dict[Key, Resources] = {}

    def add(self, fate: Fate) -> None:
        """
        Take in all pods of a gang.
        """
        self.num_gangs += 1
        for pod, node in fate.places.items():
            requests = fate.role_of(pod).requests
            key = self._key(fate, requests)
            self._requests.setdefault(key, requests)
            devices = fate.devices.get(pod, ())
            self._pods.setdefault(key, {})[pod] = node, fate.since[pod], devices

    def drop(self, fate: Fate) -> None:
        """
        Forget all pods of a gang.
        """
        self.num_gangs -= 1
        for pod in fate.places:
            key = self._key(fate, fate.role_of(pod).requests)
            del self._pods[key][pod]
            if not self._pods[key]:
                del self._pods[key]

    def _key(self, fate: Fate, requests: Resources) -> Key:
        job = fate.job
        kind = tuple(sorted(requests.items()))
        return (fate.run_kind, job.priority, job.preemptible, kind)

    def gangs(self, now: int) -> list[Gang]:
        """
        Give the gangs that stand for all of it.
        """
        return [self._gang(key, now) for key in self._pods]

    def _gang(self, key: Key, now: int) -> Gang:
        runs_like, priority, preemptible, kind = key
        pods = tuple(
            Pod(pod, PodPhase.RUNNING, node, now - since, devices=devices)
            for pod, (node, since, devices) in sorted(self._pods[key].items())
        )
        asked = ".".join(f"{name}={amount}" for name, amount in kind)
        return Gang(
            name=f"{runs_like.queue}.{runs_like.gpus}.{priority}.{preemptible}.{asked}",
            namespace=NAMESPACE,
            tree=PodSet(
                name="",
                minimum=len(pods),
                replicas=len(pods),
                requests=self._requests[key],
                pods=pods,
            ),
            queue=runs_like.queue,
            priority=priority,
            preemptible=preemptible,
            runs_like=runs_like,
        )
