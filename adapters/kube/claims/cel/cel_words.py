"""
The words of a device selector: names, numbers, texts and signs.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from models.errors import PhalanxError

LONGEST = 10 * 1024
"""
The letters of one expression, as the API server takes it.
"""
_WORD = re.compile(
    r"""
    (?P<space>\s+|//[^\n]*)
  | (?P<float>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|\.[0-9]+|[0-9]+[eE][+-]?[0-9]+)
  | (?P<int>0x[0-9a-fA-F]+|[0-9]+)(?P<unsigned>[uU])?
  | (?P<bytes>[bB][rR]?["'])
  | (?P<raw>[rR](?:"[^"\n]*"|'[^'\n]*'))
  | (?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<sign>&&|\|\||==|!=|<=|>=|\.\?|[-+*/%<>!?:.,()\[\]{}])
    """,
    re.VERBOSE,
)
_ESCAPE = re.compile(
    r"\\(?:([abfnrtv\\?\"'`])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})"
    r"|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))",
    re.DOTALL,
)
_PLAIN = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_LAST_SIGN = 0x10FFFF


class CelError(PhalanxError):
    """
    A selector does not compile, or uses what we do not know.
    """


class CelWord(NamedTuple):
    """
    One word: what sort it is, what it says, and where it stands.
    """

    sort: str
    said: str
    at: int


def words_of(text: str) -> list[CelWord]:
    """
    Part an expression into its words, with one at the end that says so.
    """
    if len(text) > LONGEST:
        raise CelError(f"has {len(text):,} letters, more than {LONGEST:,}")
    return [*_words(text), CelWord("end", "", len(text))]


def _words(text: str) -> Iterator[CelWord]:
    at = 0
    while at < len(text):
        found = _WORD.match(text, at)
        if found is None:
            raise CelError(f"cannot be read at letter {at + 1}")
        sort = found.lastgroup or ""
        if sort == "unsigned":
            raise CelError(f"unsigned numbers are not known (letter {at + 1})")
        if sort in {"float", "bytes"}:
            what = "numbers with a fraction" if sort == "float" else "bytes"
            raise CelError(f"{what} are not known (letter {at + 1})")
        if sort != "space":
            said = found.group()
            if sort == "raw":
                sort, said = "text", said[2:-1]
            elif sort == "text":
                said = _ESCAPE.sub(_meant, said[1:-1])
            yield CelWord(sort, said, at)
        at = found.end()


def _meant(found: re.Match[str]) -> str:
    plain, *codes, octal, other = found.groups()
    if plain is not None:
        return _PLAIN.get(plain, plain)
    if other is not None:
        raise CelError(f"the escape \\{other} is not known")
    code = int(octal, 8) if octal else int(next(filter(None, codes)), 16)
    if code > _LAST_SIGN:
        raise CelError("an escape names no letter")
    return chr(code)


class WordsLeft:
    """
    The words that are left to be read.
    """

    def __init__(self, words: list[CelWord]) -> None:
        self._words = words
        self._at = 0

    @property
    def next(self) -> CelWord:
        """
        Give the next word, and leave it.
        """
        return self._words[self._at]

    def skip(self) -> None:
        """
        Pass the next word by.
        """
        self._at += 1

    def took(self, *signs: str) -> str:
        """
        Take the next word where it is one of some signs.
        """
        word = self.next
        if word.sort != "sign" or word.said not in signs:
            return ""
        self._at += 1
        return word.said

    def must(self, sign: str) -> None:
        """
        Take a sign that has to be there.
        """
        if not self.took(sign):
            raise self.unexpected()

    def name(self) -> str:
        """
        Take a name.
        """
        word = self.next
        if word.sort != "name":
            raise self.unexpected()
        self._at += 1
        return word.said

    def unexpected(self) -> CelError:
        """
        Say that the next word cannot stand here.
        """
        word = self.next
        said = repr(word.said) if word.sort != "end" else "its end"
        return CelError(f"{said} is not expected at letter {word.at + 1}")
