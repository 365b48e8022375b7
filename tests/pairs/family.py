"""
What Koordinator, ACK and scheduler-plugins share, for their pairs.
"""

from tests.pairs.pair import obj, pods

LABEL = "pod-group.scheduling.sigs.k8s.io"
GANG = "gang.scheduling.koordinator.sh"
QUOTA = "quota.scheduling.koordinator.sh"
PLUGIN = "scheduling.x-k8s.io/pod-group"
SIGS, X_K8S = "scheduling.sigs.k8s.io", "scheduling.x-k8s.io"
GPU = "nvidia.com/gpu"


def group(name="g", api=SIGS, **spec):
    return obj(f"{api}/v1alpha1", "PodGroup", name, spec=spec)


def quota(name, api=SIGS, *, namespace="default", least=None, most=None, meta=None):
    spec = {"min": least or {}, **({"max": most} if most else {})}
    kind = "ElasticQuota"
    return obj(f"{api}/v1alpha1", kind, name, namespace, meta=meta, spec=spec)


def noted(stem="g", number=3, make=pods, labels=None, *, of=None, **words):
    """
    Make pods that say by annotation which gang they are in; words with _ for -.
    """
    said = {"name": of or stem, **{k.replace("_", "-"): v for k, v in words.items()}}
    notes = {f"{GANG}/{key}": value for key, value in said.items()}
    return make(stem, number, annotations=notes, labels=labels or {})


def labelled(stem="g", number=3, make=pods, **words):
    """
    Make pods that say by ACK's labels which gang they are in.
    """
    said = {"name": stem, **{k.replace("_", "-"): v for k, v in words.items()}}
    return make(stem, number, labels={f"{LABEL}/{k}": v for k, v in said.items()})


def referring(stem="g", number=3, make=pods, key=LABEL, **fields):
    """
    Make pods that name their PodGroup by label.
    """
    return make(stem, number, labels={key: stem}, **fields)
