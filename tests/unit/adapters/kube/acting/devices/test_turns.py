"""
Whose turn it is on a node is known only for as long as it matters.
"""

from adapters.kube.acting.operations import Deeds
from adapters.kube.objects.pod_reader import pod_record
from adapters.kube.watch.cache import Cache
from tests.adapters.kube.api_server import NODES, PODS
from tests.helpers.kube.kube_store import Store, raw_pod


def test_turns_of_pods_that_are_bound_or_gone_are_forgotten_with_the_next_round():
    cache = Cache([PODS, NODES])
    deeds = Deeds(Store(), cache, lambda: True)
    waits, bound, gone = (pod_record(raw_pod(name)) for name in ("w", "b", "g"))
    on_it = raw_pod("b")
    on_it["spec"]["nodeName"] = "n1"
    for number, pod in enumerate((waits, pod_record(on_it)), start=1):
        cache.shelf(PODS).put(pod.key, number, pod, str(number))
    deeds.devices._begun = {"n0": waits, "n1": bound, "n2": gone}
    deeds.begin()

    assert {"n0": waits} == deeds.devices._begun
