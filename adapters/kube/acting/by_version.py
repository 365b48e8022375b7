"""
Writes for the version that was read: what they come to, and how they are taken back.
"""

from collections.abc import Callable
from typing import Final, TypeVar

from adapters.kube.acting.operations import Answer, answer_of
from adapters.kube.api.errors import (
    AnswerError,
    ClusterError,
    ConflictError,
    ThrottledError,
)
from adapters.kube.objects.fields import FieldError

MOST_TRIES: Final = 3
"""
How often an object is read again that somebody else writes meanwhile.
"""
_Written = TypeVar("_Written")


def answered(write: Callable[[], _Written]) -> _Written | Answer:
    """
    Give what a write comes to, or why it was not done.

    Raises
    ------
    ThrottledError
        When the server asks us to wait.
    """
    try:
        return write()
    except ThrottledError:
        raise
    except AnswerError as error:
        return answer_of(error)
    except (ClusterError, FieldError) as error:
        return "again", str(error)


def take_back(allowed: Callable[[], bool], undo: Callable[[], None]) -> None:
    """
    Undo a write as long as we may, once more where somebody else wrote meanwhile.

    Where that fails for another cause it is left as it is.
    """
    for _ in range(MOST_TRIES):
        if not allowed():
            return
        try:
            undo()
        except ConflictError:
            continue
        except (ClusterError, FieldError):
            return
        return
