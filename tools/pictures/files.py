"""
Which pictures there are, and the files that they are kept in.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tools.pictures import cluster, demo, replayed, way
from tools.pictures.drawing import SCHEMES, Scheme

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
PICTURES: Mapping[str, Callable[[Scheme], str]] = {
    "demo": demo.draw,
    "round": way.draw,
    "cluster": cluster.draw,
    "report": replayed.draw,
}


def drawn(names: Sequence[str] = ()) -> dict[str, str]:
    """
    Draw pictures, all unless some are named, by the names of their files.
    """
    return {
        f"{name}-{scheme}.svg": PICTURES[name](scheme)
        for name in names or PICTURES
        for scheme in SCHEMES
    }
