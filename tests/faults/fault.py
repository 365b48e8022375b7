"""
One fault.
"""

from dataclasses import dataclass

from tests.faults.switch import Switch


@dataclass(frozen=True, slots=True)
class Fault:
    """
    A mistake, how to make it, and the scenarios of which each must then fail.
    """

    name: str
    about: str
    apply: Switch
    caught_by: tuple[str, ...]
    strategy: str = "solver"
