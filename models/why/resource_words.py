"""
Resources of ours in words: their names stand for volumes, slots and ports.
"""

import re

from models.devices.gpu_counts import shown_amount
from models.devices.gpu_parts import is_reckoned, said
from models.host_ports import is_host_port, port_times
from models.linked_gpus import is_link, links_in_words
from models.resources import (
    CLAIMED_DEVICES,
    FREE_VOLUMES,
    GPU,
    HOST_PORTS,
    MODEL_MARK,
    OTHER_MODELS,
    VOLUME_SLOTS,
    is_gpu,
)

_NUMBER = re.compile(r"(all|[0-9]+)x")
_DIGEST = re.compile(r"_[0-9a-f]{6}(?:[0-9a-f]{6})?$")
_EACH = re.compile(r"^(?:(?:all|[0-9]+)x)+")
_SEVERAL = "_and_"
_BETWEEN = {"_or_": " or ", "_with_": " with "}


def in_words(resource: str, number: int = 2) -> str:
    """
    Say what there are so many of; a name that people know stays as it is.
    """
    more = "" if number == 1 else "s"
    if is_reckoned(resource):
        return said(resource)
    if resource.startswith(FREE_VOLUMES):
        of, _, size = resource.removeprefix(FREE_VOLUMES).rpartition("/")
        some = ", of some" if "-" in size else ""
        return f"volume{more} of class {of} ({size.partition('-')[0]} or larger{some})"
    if resource.startswith(VOLUME_SLOTS):
        driver = resource.removeprefix(VOLUME_SLOTS).partition("/")[0]
        return f"slot{more} for volumes of driver {driver}"
    if is_link(resource):
        return links_in_words(resource, number)
    if is_host_port(resource):
        protocol, _, port = resource.removeprefix(HOST_PORTS).partition("/")
        several = "" if port_times(resource, number) == 1 else "s"
        return f"host port{several} {port}/{protocol}"
    is_claimed = resource.startswith(CLAIMED_DEVICES)
    return (_claimed if is_claimed else _known)(resource, number)


def noun(resource: str, number: int = 2) -> str:
    """
    Say in a sentence what there are so many of: GPUs and pods by these words.
    """
    if MODEL_MARK in resource:
        whole, _, model = resource.partition(MODEL_MARK)
        is_other = resource.endswith(OTHER_MODELS)
        which = "models that no queue names" if is_other else model
        return f"{noun(whole, number)} of {which}"
    words = {GPU: "GPU", "pods": "pod"}
    if resource in words:
        return words[resource] if number == 1 else f"{words[resource]}s"
    return in_words(resource, number)


def are(amount: str) -> str:
    """
    Give the verb of an amount in words: 1 GPU is, 2 GPUs are.
    """
    return "is" if amount.partition(" ")[0] == "1" else "are"


def plain(resource: str, number: int) -> str:
    """
    Write an amount as people do, without what it is an amount of.
    """
    counted = is_gpu(resource) or resource == "pods"
    return f"{number:,}" if counted else shown_amount(resource, number)


def _known(resource: str, number: int) -> str:
    """
    Leave the name of a resource as it is; no name stands for models without rules.
    """
    return noun(resource, number) if resource.endswith(OTHER_MODELS) else resource


def _claimed(resource: str, number: int) -> str:
    """
    Say which devices are claimed: by class, or so many at once.

    Claims of several kinds that want the same devices take so many parts of them each.
    """
    name = resource.removeprefix(CLAIMED_DEVICES)
    s = "" if number == 1 else "s"
    if counts_several(resource):
        kinds = (_EACH.sub("", _DIGEST.sub("", kind)) for kind in name.split(_SEVERAL))
        said = ", ".join(dict.fromkeys(map(_kind, kinds)))
        return f"part{s} of claimed devices ({said})"
    name = _DIGEST.sub("", name)
    said = _kind(name)
    if said == name.replace("_or_", " or "):
        return f"device{s} of class {said} by claim"
    return f"set{s} of claimed devices ({said})"


def counts_several(resource: str) -> bool:
    """
    Tell whether a resource counts claimed devices of several kinds together.
    """
    return resource.startswith(CLAIMED_DEVICES) and _SEVERAL in resource


def _kind(name: str) -> str:
    """
    Say one kind of devices of a claim, with how many of it belong together.
    """
    for mark, word in _BETWEEN.items():
        name = name.replace(mark, word)
    return _NUMBER.sub(lambda found: f"{found[1]} ", name)
