"""
Shapes and words of a picture, in the colours that reports have, too.
"""

from collections.abc import Iterable, Sequence
from typing import Literal
from xml.sax.saxutils import escape, quoteattr

from adapters.reports.charts.palette import CARD, FAINT, GRID, INK, LINE, Colour

Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"
WIDE = 0.56
"""
How wide a letter is on average, of the height of its font.
"""
Anchor = Literal["start", "middle", "end"]


def width_of(text: str, size: float) -> float:
    """
    Estimate how wide a text is.
    """
    return len(text) * size * WIDE


class Drawing:
    """
    One picture in one scheme; ``title`` is read to those who do not see it.
    """

    def __init__(self, width: int, height: int, scheme: Scheme, title: str) -> None:
        self.scheme = scheme
        self._size = (width, height)
        self._title = title
        self._parts: list[str] = []

    def of(self, colour: Colour) -> str:
        """
        Give a colour as it is in this scheme.
        """
        return colour.dark if self.scheme == "dark" else colour.light

    def box(
        self,
        place: tuple[float, float, float, float],
        *,
        fill: Colour | None = CARD,
        stroke: Colour | None = LINE,
        round_by: float = 6,
        dashed: bool = False,
    ) -> None:
        """
        Draw a rectangle: left, top, width, height.
        """
        x, y, width, height = place
        look = [
            f'fill="{self.of(fill) if fill else "none"}"',
            f'stroke="{self.of(stroke)}"' if stroke else "",
            'stroke-dasharray="4 3"' if dashed else "",
        ]
        self._parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" '
            f'rx="{round_by:g}" {" ".join(filter(None, look))}/>'
        )

    def text(
        self,
        at: tuple[float, float],
        words: str,
        *,
        size: float = 13,
        colour: Colour = INK,
        anchor: Anchor = "start",
        bold: bool = False,
    ) -> None:
        """
        Write a line, by the foot of its letters.
        """
        look = f'font-size="{size:g}" fill="{self.of(colour)}"'
        look += f' text-anchor="{anchor}"' if anchor != "start" else ""
        look += ' font-weight="600"' if bold else ""
        self._parts.append(
            f'<text x="{at[0]:g}" y="{at[1]:g}" {look}>{escape(words)}</text>'
        )

    def lines(
        self, at: tuple[float, float], words: Iterable[str], *, size: float = 12
    ) -> None:
        """
        Write faint lines below each other.
        """
        for index, line in enumerate(words):
            place = (at[0], at[1] + index * size * 1.4)
            self.text(place, line, size=size, colour=FAINT)

    def arrow(
        self,
        points: Sequence[tuple[float, float]],
        *,
        colour: Colour = FAINT,
        dashed: bool = False,
        both: bool = False,
    ) -> None:
        """
        Draw a line through points, with a head at its end.
        """
        way = " ".join(f"{x:g},{y:g}" for x, y in points)
        start = ' marker-start="url(#head)"' if both else ""
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self._parts.append(
            f'<polyline points="{way}" fill="none" stroke="{self.of(colour)}" '
            f'stroke-width="1.5"{dash}{start} marker-end="url(#head)"/>'
        )

    def raw(self, text: str) -> None:
        """
        Put a drawing of others in.
        """
        self._parts.append(text)

    def card(
        self,
        place: tuple[float, float, float, float],
        title: str,
        words: Iterable[str] = (),
        *,
        edge: Colour = LINE,
    ) -> None:
        """
        Draw a box with a title and lines below it.
        """
        x, y, *_ = place
        self.box(place, stroke=edge)
        self.text((x + 12, y + 21), title, bold=True)
        self.lines((x + 12, y + 39), words, size=11.5)

    def finished(self) -> str:
        """
        Write the picture as a file.
        """
        width, height = self._size
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" '
            f"aria-label={quoteattr(self._title)} font-family={quoteattr(FONT)}>"
        )
        tip = (
            '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" '
            'markerWidth="7" markerHeight="7" orient="auto-start-reverse">'
            f'<path d="M0,0 L8,4 L0,8 z" fill="{self.of(FAINT)}"/></marker></defs>'
        )
        return "\n".join([head, tip, *self._parts, "</svg>", ""])


__all__ = ["CARD", "FAINT", "GRID", "INK", "LINE", "Drawing", "Scheme"]
