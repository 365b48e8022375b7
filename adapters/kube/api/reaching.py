"""
Requests that do not reach a server, or whose answer breaks off.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException

from adapters.kube.api.connection import LineError
from adapters.kube.api.errors import UnreachableError


@contextmanager
def reaching(what: str) -> Iterator[None]:
    """
    Say which request it was that did not reach the server, or broke off.
    """
    try:
        yield
    except LineError as error:
        raise UnreachableError(what, str(error), lasting=error.lasting) from error
    except (OSError, HTTPException, ValueError) as error:
        raise UnreachableError(what, _why(error)) from error


def _why(error: BaseException) -> str:
    """
    Say an error of the client without its own repeated names.
    """
    return f"{type(error).__name__}: {error}"
