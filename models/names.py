"""
Names that people meant: the nearest known one to a word that nobody knows.
"""

from collections.abc import Iterable
from difflib import get_close_matches

_LONGEST = 64
_MOST = 2000


def nearest(word: str, known: Iterable[str]) -> str:
    """
    Give the nearest known name, or nothing where none is near.

    Of very many names only those are looked at that begin or end alike.  Names in one
    namespace are compared without it: ``default/nope`` is not like ``default/w7``.
    A word that is all but the domain of a name means that one, ``gpu`` for example.
    """
    if not 0 < len(word) <= _LONGEST:
        return ""
    wanted = word.lower()
    names = {name.lower(): name for name in known if len(name) <= 2 * _LONGEST}
    if ends := [name for name in names if name.endswith(f"/{wanted}")]:
        return names[min(ends)]
    space = wanted[: wanted.rfind("/") + 1]
    if any(name.startswith(space) for name in names):
        wanted = wanted.removeprefix(space)
        of_space = (name for name in names if name.startswith(space))
        names = {name.removeprefix(space): names[name] for name in of_space}
    if len(names) > _MOST:
        near = (n for n in names if n[:2] == wanted[:2] or n[-3:] == wanted[-3:])
        names = {name: names[name] for name in sorted(near)[:_MOST]}
    found = get_close_matches(wanted, names, n=1)
    return names[found[0]] if found else ""
