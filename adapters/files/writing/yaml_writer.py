"""
Plain values to YAML that every reader reads alike: what is doubtful is quoted.
"""

import re
from typing import Any

import yaml

from models.errors import escaped, spelled

_CLEAR = re.compile(r"[A-Za-z_/][-A-Za-z0-9_./]*|[0-9]+(?:m|Ki|Mi|Gi|Ti)")
_WIDTH = 120


class _Writer(yaml.CSafeDumper):
    """
    Writes short collections on one line.
    """

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ANN401 - as its base says
        del data
        return True


def _text(writer: _Writer, text: str) -> yaml.ScalarNode:
    style = None if _CLEAR.fullmatch(text) else '"'
    return writer.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Writer.add_representer(str, _text)


class _Plain(yaml.CSafeDumper):
    """
    Writes what others read too; what cannot be seen is in quotes.
    """


def _seen(writer: _Plain, text: str) -> yaml.ScalarNode:
    style = None if text.replace("\n", "").isprintable() else '"'
    return writer.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Plain.add_representer(str, _seen)


def yaml_document(document: object) -> str:
    """
    Write a document in block style.
    """
    text: str = yaml.dump(document, Dumper=_Plain, sort_keys=False, allow_unicode=True)
    return escaped(text, _spelled)


def _spelled(sign: str) -> str:
    """
    Spell out a sign that stands in quotes; only line ends stand outside of them.
    """
    return sign if sign == "\n" else spelled(sign)


def yaml_text(document: object) -> str:
    """
    Write a document; what holds no collection is on one line.
    """
    text: str = yaml.dump(
        document,
        Dumper=_Writer,
        default_flow_style=None,
        sort_keys=False,
        allow_unicode=True,
        width=_WIDTH,
    )
    return escaped(text, _spelled)
