"""
GPUs of a node that are linked: resources that say which sets of them are free.

Where whole GPUs are given in sets alone, and each set is made up of sets of the next
smaller size, pods fit if and only if for each size those that ask for as many GPUs or
more ask for no more than lie in free sets of that size: the largest pods first, each in
a free set, and what is left of sets of any size does not depend on which it was.
"""

from collections.abc import Collection, Iterable, Mapping

from models.resources import LINKED_GPUS, Resources

_SINCE = f"{LINKED_GPUS}from-"
_JUST = f"{LINKED_GPUS}of-"
PART = f"{LINKED_GPUS}in-parts"
"""
What pods with a part of a GPU ask for: none of it is where sets are a must.
"""


def names_of_links(
    asked: Collection[int], tables: Iterable[Collection[int]]
) -> tuple[str, ...]:
    """
    Name what counts for pods with so many GPUs, where nodes have sets of such sizes.

    Single sizes count only where some node has no set of them.
    """
    every = [set(sizes) for sizes in tables]
    since = sorted(set().union(*every))
    just = [size for size in sorted(asked) if not all(size in x for x in every)]
    names = [*(f"{_SINCE}{size}" for size in since), *(f"{_JUST}{x}" for x in just)]
    return *names, PART


def asked_of_links(size: int, names: Iterable[str]) -> Resources:
    """
    Give what a pod with so many whole GPUs asks for.
    """
    found = {name: size for name in names if 0 < _since(name) <= size}
    just = f"{_JUST}{size}"
    return {**found, just: 1} if just in names else found


def offered_of_links(free: Mapping[int, int], names: Iterable[str]) -> Resources:
    """
    Give what a node has with so many free sets of each size.
    """
    found = {f"{_SINCE}{size}": size * number for size, number in free.items()}
    found |= {f"{_JUST}{size}": number for size, number in free.items()}
    return {name: found.get(name, 0) for name in names}


def _since(name: str) -> int:
    return int(name.removeprefix(_SINCE)) if name.startswith(_SINCE) else 0


def is_link(resource: str) -> bool:
    """
    Tell whether a resource says which sets of GPUs are free.
    """
    return resource.startswith(LINKED_GPUS)


def links_in_words(resource: str, number: int) -> str:
    """
    Say what there are so many of.
    """
    if resource == PART:
        return "parts of GPUs beside linked ones"
    if resource.startswith(_SINCE):
        size = resource.removeprefix(_SINCE)
        return f"GPUs in free linked sets of {size}" if size != "1" else "free GPUs"
    more = "" if number == 1 else "s"
    return f"set{more} of {resource.removeprefix(_JUST)} linked GPUs"
