"""
The page as one file: its markup, style and scripts, known to the browser by hashes.
"""

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources

_SCRIPTS = ("draw.js", "panels.js", "timeline.js", "page.js")


@dataclass(frozen=True, slots=True)
class PageFile:
    """
    What is sent for the page, and the policy that goes with it.
    """

    body: bytes
    policy: str


@cache
def page_file() -> PageFile:
    """
    Put the page together; it holds nothing of anybody's cluster.
    """
    style = _text("page.css")
    script = '"use strict";\n' + "".join(map(_text, _SCRIPTS))
    text = _text("page.html").replace("{{style}}", style).replace("{{script}}", script)
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
    return PageFile(text.encode(), policy)


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _text(name: str) -> str:
    folder = resources.files("adapters.ui") / "page"
    return (folder / name).read_text(encoding="utf-8")
