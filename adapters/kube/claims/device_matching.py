"""
Which devices an item may have: selectors, taints and capacities, per distinct device.
"""

from collections.abc import Iterable, Iterator, Sequence

from adapters.kube.claims.cel.cel import selector_of
from adapters.kube.claims.cel.cel_values import ThrownError
from adapters.kube.claims.cel.cel_words import CelError
from adapters.kube.claims.device_reader import Amounts, Device
from adapters.kube.claims.device_requests import DeviceAsk
from adapters.kube.objects.fields import FieldError

PROFILE = "profile"
"""
The attribute of slices that says how large they are.
"""
_Seen = tuple[object, ...]


class DeviceMatching:
    """
    What some asks match; devices that only names and places tell apart are one kind.
    """

    def __init__(self, asks: Iterable[DeviceAsk]) -> None:
        self._names = {PROFILE}
        self._sees_all = False
        for ask in asks:
            for text in (*ask.device_class.selectors, *ask.selectors):
                selector = selector_of(text)
                self._names |= selector.names
                self._sees_all |= selector.sees_all
        self._kinds: dict[_Seen, int] = {}
        self._seen: dict[int, tuple[Device, int]] = {}
        self._known: dict[DeviceAsk, dict[int, bool]] = {}

    def take(self, devices: Iterable[Device]) -> Sequence[Device]:
        """
        Take the devices that there are; give the first of each kind.
        """
        before, self._seen = self._seen, {}
        found: dict[int, Device] = {}
        for device in devices:
            seen = before.get(id(device)) or (device, self._kind(device))
            self._seen[id(device)] = seen
            found.setdefault(seen[1], device)
        return tuple(found.values())

    def those(self, ask: DeviceAsk, devices: Iterable[Device]) -> Iterator[Device]:
        """
        Walk the devices that are asked for, and tolerated.
        """
        return (each for each in self.selected(ask, devices) if tolerated(ask, each))

    def selected(self, ask: DeviceAsk, devices: Iterable[Device]) -> Iterator[Device]:
        """
        Walk the devices that are asked for, whatever their taints.

        Raises
        ------
        FieldError
            When a selector throws for one.
        """
        known = self._known.setdefault(ask, {})
        for device in devices:
            seen = self._seen.get(id(device))
            kind = self._kind(device) if seen is None else seen[1]
            if kind not in known:
                known[kind] = _selected(ask, device)
            if known[kind]:
                yield device

    def _kind(self, device: Device) -> int:
        return self._kinds.setdefault(tuple(self._visible(device)), len(self._kinds))

    def _visible(self, device: Device) -> Iterator[object]:
        """
        Walk what selectors can see of a device, and what else decides who gets it.
        """
        yield device.name[0]
        yield device.is_shared
        yield device.taints
        yield from device.capacities.items()
        for name, value in device.attributes.items():
            if self._sees_all or name.rpartition("/")[2] in self._names:
                yield name, repr(value)


def tolerated(ask: DeviceAsk, device: Device) -> bool:
    """
    Tell whether no taint keeps a device from who asks.
    """
    return all(
        any(each.tolerates(taint) for each in ask.tolerations)
        for taint in device.taints
    )


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
