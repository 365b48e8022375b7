"""
Run times as people write them in files.
"""

from models.documents.place_specs import Spec
from models.documents.written import LeafName, Number, PlainName, Seconds


class EndedSpec(Spec):
    """
    So many gangs ran for so long at most.
    """

    within: Seconds
    gangs: Number


class RunKindSpec(Spec):
    """
    Whose run times are taken to be alike.
    """

    queue: PlainName = "default"
    owner: LeafName = "default"
    gpus: Number = 0


class RunTimesSpec(RunKindSpec):
    """
    For how long gangs of one kind ran that have ended.
    """

    ended: list[EndedSpec]
