"""
Volumes of a driver that may be attached to a node: a resource, as Kubernetes names it.

A volume of one pod takes a slot of its driver.  One that several pods share is a
resource of its own, of which a node that has it, or kept a slot for it, has plenty: so
it takes one slot there, however many pods use it.
"""

from collections.abc import Mapping

from models.resources import VOLUME_SLOTS, Resources

UNLIMITED = 2**20
"""
What a node offers where its driver says no limit.
"""


def volume_slots(driver: str, claim: str = "") -> str:
    """
    Name the slots for volumes of a driver, or the volume of a claim that pods share.
    """
    return f"{VOLUME_SLOTS}{driver}/{claim}" if claim else f"{VOLUME_SLOTS}{driver}"


def is_volume_slot(resource: str) -> bool:
    """
    Tell whether a resource is slots for volumes, or a shared volume.
    """
    return resource.startswith(VOLUME_SLOTS)


def slot_parts(resource: str) -> tuple[str, str]:
    """
    Give the driver of slots, and the claim where they are a shared volume.
    """
    driver, _, claim = resource.removeprefix(VOLUME_SLOTS).partition("/")
    return driver, claim


def name_of_claims(kind: str) -> str:
    """
    Name a kind of claims where it is known that volumes are meant.
    """
    return f"driver {slot_parts(kind)[0]} (slots)" if is_volume_slot(kind) else kind


def claims_in_words(kind: str) -> str:
    """
    Say what claims of a kind need.
    """
    if is_volume_slot(kind):
        return f"slots for volumes of driver {slot_parts(kind)[0]}"
    return f"free volumes of {kind}"


def with_claims(resources: Resources, called: Mapping[str, str]) -> Resources:
    """
    Call the claims of shared volumes otherwise.
    """
    if not called or not any(map(is_volume_slot, resources)):
        return resources
    found = {}
    for name, amount in resources.items():
        driver, claim = slot_parts(name) if is_volume_slot(name) else ("", "")
        found[volume_slots(driver, called[claim]) if claim else name] = amount
    return found
