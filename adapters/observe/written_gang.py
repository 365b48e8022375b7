"""
What was written last of each gang, and which gang of a name is another one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from models.gangs import Gang, Pod, pod_sets

_SAME_BIRTH = 2.0
"""
The seconds within which two births are the same: ages are in whole seconds.
"""


@dataclass(slots=True)
class WrittenGang:
    """
    A gang as it was written last, when it came, and the uids of its pods then.

    Those in ``running`` ran.
    """

    wrote: Mapping[str, Any]
    came: float
    pods: frozenset[str] = frozenset()
    running: frozenset[str] = frozenset()

    def is_another(self, gang: Gang, now: float) -> bool:
        """
        Tell whether a gang of its name came later, and has none of its pods.
        """
        if now - gang.age - self.came <= _SAME_BIRTH:
            return False
        leaves = pod_sets(gang.tree)
        return self.pods.isdisjoint(uid_of(pod) for leaf in leaves for pod in leaf.pods)


def uid_of(pod: Pod) -> str:
    """
    Give what tells a pod apart, also from one of its name.
    """
    return pod.uid or pod.name


def restated(
    record: Mapping[str, Any], known: Mapping[str, WrittenGang], now: float
) -> dict[str, Any]:
    """
    Give a record that names all gangs there are, with all that is known of each.

    First come those that are gone: others may have their names.
    """
    gone = [change for change in record["gangs"] if change.get("gone")]
    gangs = {
        key: {"gang": key, "age": int(now - gang.came), **gang.wrote}
        for key, gang in known.items()
    }
    for change in record["gangs"]:
        if not change.get("gone"):
            gangs[change["gang"]] |= change
    return {**record, "begins": True, "gangs": [*gone, *gangs.values()]}
