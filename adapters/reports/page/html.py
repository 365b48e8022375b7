"""
Write a page as one HTML file that needs nothing else: no network, no second file.

Importing this needs the extra ``report``; ``extra.ready`` says so in a sentence.
"""

import base64
import hashlib
import json
from functools import cache
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from adapters.reports.charts.number_text import SPACE
from adapters.reports.charts.palette import style_sheet
from adapters.reports.charts.scales import NARROW, WIDE
from adapters.reports.charts.specification import specification
from adapters.reports.charts.svg import drawn, plot_of
from adapters.reports.page.page import Facts, Figure, Grid, Items, Page, Section, Text
from adapters.reports.page.plain_values import shown
from adapters.reports.page.readings import readings_of
from models.errors import escaped, spelled

LARGEST = 3_000_000
"""
How many characters a page has that carries its results along; else it only tells, and
what is still larger cannot be looked at closer.
"""


def as_html(page: Page) -> str:
    """
    Write a page; the same page gives the same bytes.
    """
    style = Markup(f"{style_sheet()}\n{_text('page.css')}")  # noqa: S704 - our own file
    text = f"{_text('page.js')}{_text('closer.js')}"
    script = Markup(text)  # noqa: S704 - our own files
    drawings = {
        (figure.name, at): _drawings(figure, at)
        for section in page.sections
        for figure in _figures(section)
        for at in range(len(figure.panels))
    }

    readings = readings_of(page, {at: boxes for at, (_, boxes) in drawings.items()})

    def written(results: Markup | None, readings: str) -> str:
        text = (
            _environment()
            .get_template("page.html")
            .render(
                page=page,
                style=style,
                script=script,
                policy=_policy(style, script),
                results=results,
                readings=readings,
                drawings={at: text for at, (text, _) in drawings.items()},
            )
        )
        return f"{text.rstrip()}\n"

    whole = _embedded({**page.document, "page": shown(page)})
    found = written(whole, readings)
    if len(found) > LARGEST:
        found = written(None, readings)
    return found if len(found) <= LARGEST else written(None, "")


def _policy(style: str, script: str) -> str:
    """
    Forbid everything but our own style and script, which are known by their hashes.
    """
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _embedded(document: dict[str, Any]) -> Markup:
    """
    Write results so that nothing in them can end the element that holds them.
    """
    text = json.dumps(
        document, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)  # noqa: S704 - every sign that could end it is escaped


def _figures(section: Section) -> list[Figure]:
    return [block for block in section.blocks if isinstance(block, Figure)]


def _drawings(figure: Figure, at: int) -> tuple[Markup, list[list[float] | None]]:
    """
    Draw a panel for wide and for narrow screens; the style sheet shows one of them.
    """
    parts, boxes = [], []
    for paper in (WIDE, NARROW):
        name = f"{figure.name}-{at}-{paper.name}"
        svg = drawn(specification(figure.panels[at].chart, paper), name)
        parts.append(f'<div class="{paper.name}">{svg}</div>')
        boxes.append(plot_of(svg))
    return Markup("".join(parts)), boxes  # noqa: S704 - the drawer escapes its texts


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("adapters.reports", "templates"),
        autoescape=True,
        finalize=_seen,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    kinds = {"text": Text, "items": Items, "facts": Facts, "grid": Grid}
    for name, kind in kinds.items():
        environment.tests[name] = lambda block, kind=kind: isinstance(block, kind)
    return environment


def _seen(value: object) -> object:
    """
    Spell out what cannot be seen in a text of others; our own marks stay.
    """
    return escaped(value, _spelled) if type(value) is str else value


def _spelled(sign: str) -> str:
    return sign if sign == SPACE else spelled(sign)


def _text(name: str) -> str:
    folder = resources.files("adapters.reports") / "templates"
    return (folder / name).read_text(encoding="utf-8")
