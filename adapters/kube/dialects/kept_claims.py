"""
Claims that stand as long as nothing that they were read from changes.

Most groups stay as they are from one snapshot to the next; reading them again would
take most of its time.
"""

from collections.abc import Callable, Hashable

from adapters.kube.dialects.protocol import Claim


class Remembered:
    """
    The claims of one dialect, each with what it was read from.
    """

    def __init__(self) -> None:
        self._around: object = None
        self._known: dict[Hashable, tuple[object, Claim]] = {}
        self._fresh: dict[Hashable, tuple[object, Claim]] = {}

    def begin(self, around: object) -> None:
        """
        Begin a snapshot: what all claims depend on decides whether any still stands.
        """
        self._known = self._fresh if around == self._around else {}
        self._around = around
        self._fresh = {}

    def claim(self, key: Hashable, source: object, read: Callable[[], Claim]) -> Claim:
        """
        Give the claim of a key, read again where its source is another one.

        Sources are compared by what they hold; the same objects are equal at once.
        """
        known = self._known.get(key)
        if known is None or known[0] != source:
            known = (source, read())
        self._fresh[key] = known
        return known[1]
