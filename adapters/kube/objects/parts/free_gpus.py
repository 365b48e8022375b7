"""
Which GPUs of a node nobody has, as far as its contract names those of every pod there.
"""

from collections.abc import Iterable

from adapters.kube.objects.parts.device_parts import names_under
from adapters.kube.objects.parts.node_devices import RegisteredGpus
from adapters.kube.objects.pod_record import PodRecord
from models.resources import num_gpus


def free_gpus(gpus: RegisteredGpus, there: Iterable[PodRecord]) -> set[int] | None:
    """
    Give the GPUs that no pod there has, whole or in part; none if nobody knows.
    """
    free = set(range(len(gpus.names))) - gpus.ill
    for pod in there:
        names = names_under(gpus.contract, pod.annotations, pod.requests)
        numbers = gpus.numbers(dict.fromkeys(names))
        count = pod.part.part.count if pod.part else num_gpus(pod.requests)
        if numbers is None or len(numbers) != count:
            return None
        free.difference_update(numbers)
    return free
