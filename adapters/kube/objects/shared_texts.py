"""
Labels and annotations kept once: pods of one owner have most of them in common.
"""

from collections.abc import Mapping
from typing import Final
from weakref import WeakValueDictionary


class _Texts(dict[str, str]):
    """
    Labels or annotations that are shared as long as a pod has them.
    """

    __slots__ = ("__weakref__",)


class SharedTexts:
    """
    The mappings that some pod has; what no pod has any longer is forgotten.
    """

    def __init__(self) -> None:
        self._held: WeakValueDictionary[tuple[tuple[str, str], ...], _Texts] = (
            WeakValueDictionary()
        )

    def __len__(self) -> int:
        return len(self._held)

    def of(self, found: Mapping[str, str]) -> Mapping[str, str]:
        """
        Give the first mapping with these texts.
        """
        if not found:
            return NO_TEXTS
        words = tuple(found.items())
        held = self._held.get(words)
        if held is None:
            held = self._held[words] = _Texts(found)
        return held


NO_TEXTS: Final[Mapping[str, str]] = {}
