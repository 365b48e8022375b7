"""
Pods and quotas of Koordinator, as a server holds them.
"""

from adapters.kube.dialects.coscheduling.koordinator import DIALECT
from tests.unit.adapters.kube.dialects.family import (
    GANG,
    claim,
    pod,
)


def annotated(**words):
    """
    Read a gang of one pod with a name and a minimum, and the words.
    """
    said = {"name": "g", "min-available": "2"}
    said |= {key.replace("_", "-"): value for key, value in words.items()}
    notes = {f"{GANG}/{key}": value for key, value in said.items()}
    return claim(DIALECT, [pod(notes=notes)])
