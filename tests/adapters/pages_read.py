"""
A page as a machine reads it: its elements, in their order.
"""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset({"meta", "link", "br", "hr", "img", "input"})


@dataclass
class Element:
    """
    One element with its attributes, its children, and the text right inside it.
    """

    tag: str
    attributes: dict
    children: list = field(default_factory=list)
    words: list = field(default_factory=list)

    def every(self, *tags):
        """
        Give all elements of some kinds below this one.
        """
        for child in self.children:
            if child.tag in tags or not tags:
                yield child
            yield from child.every(*tags)

    @property
    def text(self) -> str:
        """
        Give all text below this element.
        """
        inside = "".join(child.text for child in self.children)
        return "".join(self.words) + inside


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.top = Element("", {})
        self._open = [self.top]

    def handle_starttag(self, tag, attrs):
        element = Element(tag, dict(attrs))
        self._open[-1].children.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag, attrs):
        self._open[-1].children.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert tag == self._open[-1].tag, f"</{tag}> closes <{self._open[-1].tag}>"
        self._open.pop()

    def handle_data(self, data):
        self._open[-1].words.append(data)


def read(text: str) -> Element:
    """
    Read a page whose elements are all closed, or fail.
    """
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert [reader.top] == reader._open
    return reader.top
