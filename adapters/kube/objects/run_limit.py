"""
For how long a pod may run, as its own fields and the words of systems say.
"""

from collections.abc import Mapping

from adapters.kube.objects.fields import Json
from models.resources import LONGEST_SECONDS

_DIGITS = 10
_KUEUE_LIMIT = "kueue.x-k8s.io/max-exec-time-seconds"


def run_limit(meta: Json, spec: Json) -> int | None:
    """
    Give for how long a pod may run: its own deadline, or that of its Kueue workload.

    What is not a number of seconds limits nothing: it only lets less be forecast.
    """
    said: list[object] = [spec.get("activeDeadlineSeconds")]
    for word in ("labels", "annotations"):
        texts = meta.get(word)
        text_ = texts.get(_KUEUE_LIMIT) if isinstance(texts, Mapping) else None
        if isinstance(text_, str) and text_.isdecimal() and len(text_) <= _DIGITS:
            said.append(int(text_))
    return min(
        (s for s in said if type(s) is int and 0 < s <= LONGEST_SECONDS), default=None
    )
