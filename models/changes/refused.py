"""
Changes that cannot be made: which field, what is wrong with it, and what to do.
"""

from collections.abc import Iterable

from models.errors import InputRejectedError, PhalanxError, Problem
from models.names import nearest


class ChangeRefusedError(PhalanxError):
    """
    A change cannot be made in this snapshot.
    """

    def __init__(self, where: str, what: str, hint: str) -> None:
        self.problem = Problem(where, what, hint)
        super().__init__(str(self.problem))


class ChangesRejectedError(InputRejectedError):
    """
    Some changes cannot be made, so none is; every problem is listed.
    """


def unknown(noun: str, name: str, known: Iterable[str]) -> ChangeRefusedError:
    """
    Say that there is no such thing, and what its name may have been meant to be.
    """
    names = sorted(known)
    near = nearest(name, names)
    if near:
        hint = f"did you mean {near}?"
    elif names:
        more = ", …" if len(names) > 3 else ""
        hint = f"there is {', '.join(names[:3])}{more}"
    else:
        hint = f"there is no {noun} at all"
    return ChangeRefusedError(noun, f"there is no {name}", hint)
