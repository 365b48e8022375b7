"""
Which devices an item may have: selectors, taints and capacities, per distinct device.
"""

from collections.abc import Iterable, Iterator

from adapters.kube.claims.cel.cel import selector_of
from adapters.kube.claims.cel.cel_values import ThrownError
from adapters.kube.claims.cel.cel_words import CelError
from adapters.kube.claims.device_reader import Amounts, Device
from adapters.kube.claims.device_requests import DeviceAsk
from adapters.kube.objects.fields import FieldError

_Seen = tuple[object, ...]


class DeviceMatching:
    """
    What some asks match; devices that none of their selectors tells apart are one.
    """

    def __init__(self, asks: Iterable[DeviceAsk]) -> None:
        self._asks = frozenset(asks)
        self._names: set[str] = set()
        self._sees_all = False
        for ask in self._asks:
            for text in (*ask.device_class.selectors, *ask.selectors):
                selector = selector_of(text)
                self._names |= selector.names
                self._sees_all |= selector.sees_all
        self._seen: dict[int, tuple[Device, _Seen]] = {}
        self._known: dict[tuple[DeviceAsk, _Seen], bool] = {}

    def matches(self, ask: DeviceAsk, device: Device) -> bool:
        """
        Tell whether a device is one that is asked for, and tolerated.

        Raises
        ------
        FieldError
            When a selector throws for it.
        """
        key = ask, self._kind(device)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = _selected(ask, device)
        return known and all(
            any(each.tolerates(taint) for each in ask.tolerations)
            for taint in device.taints
        )

    def _kind(self, device: Device) -> _Seen:
        """
        Give what selectors can see of a device.
        """
        known = self._seen.get(id(device))
        if known is None:
            known = self._seen[id(device)] = (device, tuple(self._visible(device)))
        return known[1]

    def _visible(self, device: Device) -> Iterator[object]:
        yield device.name[0]
        yield device.is_shared
        for name, value in device.attributes.items():
            if self._sees_all or name.rpartition("/")[2] in self._names:
                yield name, value
        for name, capacity in device.capacities.items():
            if self._sees_all or name.rpartition("/")[2] in self._names:
                yield name, capacity.value


def _selected(ask: DeviceAsk, device: Device) -> bool:
    """
    Ask the selectors of the class, then those of the request, up to the first no.
    """
    own = ask.device_class
    for place, texts in (
        (f"DeviceClass {own.name}, spec", own.selectors),
        (ask.place, ask.selectors),
    ):
        for at, text in enumerate(texts):
            try:
                if not selector_of(text).holds(device.fields):
                    return False
            except (ThrownError, CelError) as error:
                what = f"{error} (device {device.name[2]} of driver {device.name[0]})"
                where = f"{place}.selectors[{at}].cel.expression"
                raise FieldError(where, what) from error
    return True


def consumption(ask: DeviceAsk, device: Device) -> Amounts | None:
    """
    Give what an ask consumes of a device's capacities; none where it cannot.
    """
    asked = dict(ask.capacity)
    if not asked.keys() <= device.capacities.keys():
        return None
    found = []
    for name, capacity in device.capacities.items():
        amount = capacity.consumed(asked.get(name))
        if amount is None or amount > capacity.value:
            return None
        found.append((name, amount))
    return tuple(found)
