"""
Plain values to YAML that every reader reads alike: what is doubtful is quoted.
"""

import re
from typing import Any

import yaml

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
    return text
