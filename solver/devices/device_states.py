"""
Device states: what is left of the GPUs of each node of which somebody has a part.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from models.devices.device_use import SharedDevice
from models.devices.mig_profiles import Sliced


@dataclass(frozen=True, slots=True)
class DeviceStates:
    """
    The devices of one node of which somebody has a part, by their numbers.

    ``cuttable`` are those that may be cut and are neither shared nor known to be whole;
    ``counted`` are those that the load of others counts already.
    """

    shared: Mapping[int, SharedDevice] = field(default_factory=dict)
    sliced: Mapping[int, Sliced] = field(default_factory=dict)
    cuttable: tuple[int, ...] = ()
    whole: frozenset[int] = frozenset()
    counted: frozenset[int] = frozenset()

    @property
    def opened(self) -> int:
        """
        Count the devices that are not idle, nor whole, nor counted already.
        """
        return len((self.shared.keys() | self.sliced.keys()) - self.counted)
