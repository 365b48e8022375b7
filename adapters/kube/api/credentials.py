"""
What a request carries to say who asks, read anew when it may have changed.
"""

import logging
import threading
from collections.abc import Callable, Mapping
from math import inf

from adapters.kube.api.errors import CredentialsError
from adapters.machine.clock import monotonic
from models.errors import printable

_log = logging.getLogger(__name__)
_KNOWN_FOR = 1.0
_RENEW_EVERY = 5.0


class Credentials:
    """
    Who we are: ``headers`` is asked anew after a second, since tokens expire.

    Where the server does not know us, ``renew`` reads who we are once more.
    """

    def __init__(
        self,
        headers: Callable[[], Mapping[str, str]],
        renew: Callable[[], None] | None = None,
    ) -> None:
        self._headers = headers
        self._who: tuple[float, Mapping[str, str]] = (-inf, {})
        self._renew = renew
        self._renewing = threading.Lock()
        self._renewed_at = -inf

    def known(self, what: str) -> Mapping[str, str]:
        """
        Give what says who we are; where it cannot be read, what said so last.
        """
        until, who = self._who
        if (now := monotonic()) >= until:
            try:
                who = self._headers()
            except Exception as error:
                said = printable(f"{type(error).__name__}: {error}")
                if not who:
                    said = f"the credentials cannot be read: {said}"
                    raise CredentialsError(f"cannot {what}: {said}") from error
                _log.warning("credentials_not_read", extra={"fields": {"error": said}})
            self._who = now + _KNOWN_FOR, who
        return who

    def is_renewed(self, used: Mapping[str, str]) -> bool:
        """
        Read who we are once more; tell whether there is something new to try.
        """
        with self._renewing:
            now = monotonic()
            if self._renew is None or self._who[1] != used:
                return self._renew is not None  # another thread has read it
            if now < self._renewed_at + _RENEW_EVERY:
                return False
            self._renewed_at = now
            try:
                self._renew()
            except Exception as error:  # noqa: BLE001 - the answer says what is wrong
                said = printable(f"{type(error).__name__}: {error}")
                _log.warning("credentials_not_read", extra={"fields": {"error": said}})
                return False
            self._who = -inf, self._who[1]
            return True
