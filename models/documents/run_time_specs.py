"""
Run times as people write them in files.
"""

from typing import Annotated

from pydantic import Field

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


Level = Annotated[float, Field(ge=0.02, le=0.99)]


class RunTimeLevelsSpec(Spec):
    """
    Which parts of the record are told as 50, 80 and 95 % of gangs that ran for so long.
    """

    after: Seconds
    half: Level
    most: Level
    nearly: Level
