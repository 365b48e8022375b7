"""
Devices and claims as they are now: as the cache holds them, and as we wrote them since.
"""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress

from adapters.kube.api.api_resources import Raw
from adapters.kube.api.watch_events import number_of
from adapters.kube.claims.device_reading import DeviceReading
from adapters.kube.claims.extended_resources import ExtendedResources
from adapters.kube.claims.free_devices import given_twice
from adapters.kube.dialects.native.gangs import Native
from adapters.kube.gangs.devices.device_room import READ_KINDS
from adapters.kube.gangs.kinds import DEVICES
from adapters.kube.objects.fields import version_in
from adapters.kube.watch.cache import Cache

_FOLLOWED = (*DEVICES, *Native.resources)


class ClaimsNow:
    """
    What there is of devices and claims; ``written`` are claims as we wrote them last.
    """

    def __init__(self, cache: Cache, written: dict[str, Raw]) -> None:
        self._cache = cache
        self._written = written
        self.reading = DeviceReading()
        self.extended = ExtendedResources()

    def held(self, kind: str) -> dict[str, Raw]:
        """
        Give the objects of a kind by name, of all versions that are followed.
        """
        found: dict[str, Raw] = {}
        for each in _FOLLOWED:
            if each.kind == kind:
                with suppress(KeyError):
                    found = {**self._cache.shelf(each).records, **found}
        return found

    def read(self) -> dict[str, Raw]:
        """
        Read what there is of devices; give the claims, as we wrote them last.
        """
        held = self.held
        self.reading.read(*(tuple(held(kind).values()) for kind in READ_KINDS))
        raws = held("ResourceClaim")
        for key, raw in list(self._written.items()):
            if self._is_over(key, raw, raws):
                del self._written[key]
            else:
                raws[key] = raw
        classes = self.reading.classes
        if classes:
            claims = self.reading.claims(list(raws.values())).values()
            self.extended = ExtendedResources(classes, (), claims)
        return raws

    def are_shown(self, keys: Iterable[str]) -> bool:
        """
        Tell whether the server has shown all that was written into some claims.
        """
        mine = (self._written[key] for key in keys if key in self._written)
        return self._shown("ResourceClaim") >= max(map(_version, mine), default=0)

    def lost(self, keys: Collection[str]) -> dict[str, str]:
        """
        Say which claims have what others have too, and who these are.
        """
        claims = self.reading.claims(list(self.read().values()))
        had = given_twice(self.reading.free, claims)
        found: dict[str, str] = {}
        for key in claims.keys() & {*keys}:
            for each in claims[key].held or ():
                if each.device in had:
                    others = [x for x in had[each.device] if x != key and x not in keys]
                    who = f"claim {others[0]}" if others else "others"
                    what = f"device {each.device[2]} of {each.device[1]}"
                    found[key] = f"claim {key}: {what} was given to {who}, too"
        return found

    def _is_over(self, key: str, raw: Raw, raws: Mapping[str, Raw]) -> bool:
        """
        Tell whether the server has shown a claim as we wrote it, or a later one.

        One that we made is not shown at once; it is gone where later changes were.
        """
        if key in raws:
            return _version(raws[key]) >= _version(raw)
        return self._shown("ResourceClaim") >= _version(raw)

    def _shown(self, kind: str) -> int:
        """
        Give the number of the last change of a kind that the server has shown.
        """
        shown = [0]
        for each in _FOLLOWED:
            if each.kind == kind:
                with suppress(KeyError):
                    shown.append(number_of(self._cache.shelf(each).version))
        return max(shown)


def _version(raw: Raw) -> int:
    return number_of(version_in(raw))
