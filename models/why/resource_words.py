"""
Resources of ours in words: their names stand for volumes, slots and ports.
"""

from models.devices.gpu_parts import is_reckoned, said
from models.host_ports import is_host_port
from models.linked_gpus import is_link, links_in_words
from models.resources import FREE_VOLUMES, HOST_PORTS, VOLUME_SLOTS


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
        return f"host port {port}/{protocol}"
    return resource
