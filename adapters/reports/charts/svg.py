"""
Drawings as a page can hold them: small, with names of their own, without a size.
"""

import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree as ET

import vl_convert

_NAMESPACE = re.compile(r' xmlns(:\w+)?="[^"]*"')
_NUMBER = re.compile(r"-?\d+\.\d{2,}(?:e-?\d+)?|-?\d+(?:\.\d+)?e-\d+")
_CLIP = re.compile(r"url\(#([^)]+)\)")
_DROPPED = frozenset(
    {
        *("class", "role", "aria-label", "aria-roledescription", "aria-hidden"),
        *("pointer-events", "font-family", "version", "width", "height"),
    }
)
_DEFAULTS = {"opacity": "1", "stroke-width": "1", "font-weight": "normal"}
_MOVED = re.compile(r"translate\(([-\d.]+),([-\d.]+)\)")
_ACROSS = frozenset({"role-axis-grid", "role-axis-tick", "role-axis-label"})
TAG = "data-k"


def drawn(specification: dict[str, Any], name: str) -> str:
    """
    Draw a chart as one ``svg`` element; ``name`` begins every id in it.
    """
    # Nothing may be fetched: what a chart shows is in its description.
    text = vl_convert.vegalite_to_svg(specification, allowed_base_urls=[])
    root = ET.fromstring(_NAMESPACE.sub("", text))  # noqa: S314 - our own drawing
    _rename(root, name)
    _tag(root)
    size = root.attrib["viewBox"]
    _slim(root)
    root.attrib = {"viewBox": size, "aria-hidden": "true", "focusable": "false"}
    return ET.tostring(root, encoding="unicode", short_empty_elements=True)


def plot_of(svg: str) -> list[float] | None:
    """
    Say where a drawing's plot is: left, top, width, height; and how wide it all is.
    """
    root = ET.fromstring(svg)  # noqa: S314 - our own drawing
    origin = (
        _MOVED.fullmatch(root[0].attrib.get("transform", "")) if len(root) else None
    )
    lines = [line.attrib for line in root.iter("line")]
    wide = [abs(float(a.get("x2", 0))) for a in lines if float(a.get("y2", 0)) == 0]
    high = [abs(float(a.get("y2", 0))) for a in lines if float(a.get("x2", 0)) == 0]
    if origin is None or not wide or not high:
        return None
    size = root.attrib["viewBox"].split()
    place = (float(origin[1]), float(origin[2]), max(wide), max(high), float(size[2]))
    return [round(number, 1) for number in place]


def _tag(root: "ET.Element[str]") -> None:
    """
    Mark what a closer look replaces: the marks, and the grid and labels across.
    """
    for group in root.iter("g"):
        words = group.attrib.get("class", "")
        if "role-mark" in words:
            group.attrib[TAG] = ""
        elif "role-axis" in words and "mark-group" in words:
            moved = [_MOVED.fullmatch(g.attrib.get("transform", "")) for g in group]
            if any(found and float(found[2]) > 1 for found in moved):
                for part in group.iter("g"):
                    if _ACROSS & set(part.attrib.get("class", "").split()):
                        part.attrib[TAG] = ""


def _rename(root: "ET.Element[str]", name: str) -> None:
    """
    Give what is referred to ids that count from one: the drawer's depend on its past.
    """
    names: dict[str, str] = {}
    for child in root.iter():
        if "id" in child.attrib:
            new = names.setdefault(child.attrib["id"], f"{name}-{len(names) + 1}")
            child.attrib["id"] = new
    for child in root.iter():
        for key, value in child.attrib.items():
            found = _CLIP.fullmatch(value)
            if found:
                child.attrib[key] = f"url(#{names[found[1]]})"


def _slim(element: "ET.Element[str]") -> None:
    """
    Leave out what is not seen, and join equal neighbours into one path.
    """
    for child in list(element):
        _slim(child)
        if _is_nothing(child):
            element.remove(child)
    kept: list[ET.Element[str]] = []
    for child in element:
        _clean(child)
        if kept and _are_one(kept[-1], child):
            kept[-1].attrib["d"] += child.attrib["d"]
        else:
            kept.append(child)
    element[:] = list(_without_wrappers(kept))


def _clean(element: "ET.Element[str]") -> None:
    element.attrib = {
        key: _NUMBER.sub(_rounded, value) if key != "id" else value
        for key, value in element.attrib.items()
        if (
            key not in _DROPPED
            or (element.tag == "rect" and key in {"width", "height"})
        )
        and _DEFAULTS.get(key) != value
    }


def _rounded(found: re.Match[str]) -> str:
    return f"{round(float(found[0]), 1):g}" if len(found[0]) < 12 else _short(found[0])


def _short(number: str) -> str:
    return f"{round(float(number), 1):g}"


def _is_nothing(element: "ET.Element[str]") -> bool:
    if element.attrib.get("display") == "none":
        return True
    if element.tag == "g" and not len(element):
        return True
    if element.tag == "path":
        path = element.attrib.get("d", "")
        invisible = "fill" not in element.attrib and "stroke" not in element.attrib
        return path in {"", "M0,0h0v0h0Z"} or invisible
    return element.tag == "text" and not element.text


def _are_one(before: "ET.Element[str]", after: "ET.Element[str]") -> bool:
    if not before.tag == after.tag == "path":
        return False
    if before.attrib.get("opacity") or before.attrib.get("fill-opacity"):
        return False
    ours = {key: value for key, value in before.attrib.items() if key != "d"}
    return ours == {key: value for key, value in after.attrib.items() if key != "d"}


def _without_wrappers(
    children: "list[ET.Element[str]]",
) -> "Iterator[ET.Element[str]]":
    """
    Give what stands in groups that say nothing.
    """
    for child in children:
        if child.tag == "g" and not child.attrib:
            yield from child
        else:
            yield child
