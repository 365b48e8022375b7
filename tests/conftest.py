"""
What holds for all tests.
"""

import gc
import os
from datetime import UTC, datetime

from hypothesis import settings

from tests.helpers.rounds.drawn import first_place, is_drawn


def pytest_configure(config):
    """
    Let all processes draw by the same day, and no busy machine fail a drawn example.
    """
    settings.register_profile("phalanx", settings(deadline=None))
    settings.load_profile("phalanx")
    os.environ.setdefault("DRAWN", f"{datetime.now(UTC):%Y-%m-%d}")


def pytest_pycollect_makeitem(collector, name, obj):
    """
    Make no thousands of slow cases where all of them are left out.
    """
    if "not slow" in collector.config.option.markexpr:
        marks = getattr(obj, "pytestmark", ())
        return [] if any(mark.name == "slow" for mark in marks) else None
    return None


def pytest_collection_modifyitems(config, items):
    """
    Leave out the random cases that other days draw; whoever is named is always run.
    """
    if any("::" in arg for arg in config.args):
        return
    seen = dict[str, int]()
    kept, left = [], []
    for item in items:
        drawn = True
        if item.get_closest_marker("drawn"):
            name = item.nodeid.partition("[")[0]
            at = seen.setdefault(name, first_place(name))
            drawn = is_drawn(at, os.environ["DRAWN"])
            seen[name] += 1
        (kept if drawn else left).append(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = kept


def pytest_collection_finish(session):
    """
    Let the collector pass by the twenty thousand tests that stay until the end.
    """
    gc.freeze()
