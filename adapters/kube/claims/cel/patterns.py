"""
Regular expressions of selectors, as far as their work is bounded.

RE2 takes time in proportion to the text; Python's engine tries again.  So a repetition
stands over no other one, there are few of them, and patterns and texts are short.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from adapters.kube.claims.cel.cel_words import CelError

_LONGEST = 256
LONGEST_TEXT = 64
"""
The letters of a text that a pattern is tried on.
"""
_MOST_REPEATS = 3
_ESCAPED = r"\\[dDwWsSbB.\\+*?()\[\]{}|^$/_ tnr\"'-]"
_TOKEN = re.compile(
    rf"""
    (?P<escape>{_ESCAPED})
  | (?P<letters>\[\^?\]?(?:{_ESCAPED}|[^\\\[\]])*\])
  | (?P<opens>\((?:\?:|(?!\?)))
  | (?P<closes>\))
  | (?P<repeats>(?:[*+?]|\{{[0-9]{{1,3}}(?:,[0-9]{{0,3}})?\}})\??)
  | (?P<plain>[^\\\[\](){{}}*+?])
    """,
    re.VERBOSE | re.DOTALL,
)


@lru_cache(maxsize=1024)
def pattern_of(text: str) -> re.Pattern[str]:
    """
    Read a pattern, or refuse it.
    """
    if len(text) > _LONGEST:
        raise CelError(f"a pattern has more than {_LONGEST} letters")
    try:
        return re.compile("".join(_checked(text)), re.ASCII)
    except re.error as error:
        raise CelError(f"the pattern {text!r} cannot be read: {error}") from error


def _checked(text: str) -> Iterator[str]:
    """
    Walk the tokens of a pattern, as Python reads them.
    """
    repeats = at = 0
    inside = [False]
    is_repeated = False
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            what = f"has {text[at : at + 3]!r} at letter {at + 1}, which is not known"
            raise CelError(f"the pattern {text!r} {what}")
        sort, at = found.lastgroup, found.end()
        if sort == "repeats" and is_repeated:
            raise CelError(f"the pattern {text!r} repeats what repeats")
        repeats += sort == "repeats"
        if sort == "opens":
            inside.append(False)
        is_repeated = sort == "repeats" or (sort == "closes" and inside[-1])
        if sort == "closes" and len(inside) > 1:
            inside.pop()
        inside[-1] = inside[-1] or is_repeated
        yield r"\Z" if found.group() == "$" else found.group()
    if repeats > _MOST_REPEATS:
        raise CelError(f"the pattern {text!r} repeats more than {_MOST_REPEATS} ×")
