"""
What a plan would lose if a gang that it passes over started all the same.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StartCost:
    """
    The first tier in which the best plan with a gang is worse, and who pays for it.

    ``value`` is what this plan has there, ``then`` what that one has, as people count.
    It is ``proven`` where no plan with the gang loses less; else the loss is the most.
    Without a ``tier`` none is worse, or, where nothing was ``tried``, none is known.
    """

    sentence: str
    tier: str = ""
    band: int | None = None
    value: float = 0
    then: float = 0
    proven: bool = False
    tried: bool = True
    starts: tuple[str, ...] = ()
    waits: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    shrinks: tuple[str, ...] = ()
