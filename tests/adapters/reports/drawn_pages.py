"""
Pages of reports in a browser.
"""

from pathlib import Path

import pytest

from tests.helpers.chromium import executable

NEEDS_A_BROWSER = pytest.mark.skipif(
    executable() is None,
    reason="there is no Chromium here; on Debian: apt-get install chromium",
)

REPOSITORY = Path(__file__).parents[3]
SCENARIOS = REPOSITORY / "scenarios"

KINDS = ("replay", "comparison")

SCREENS = {"desk": (1_200, 900), "phone": (390, 844)}

TAB, ENTER, DOWN = ("Tab", 9), ("Enter", 13, "\r"), ("ArrowDown", 40)


def ready(browser, pages, kind="replay"):
    browser.screen(*SCREENS["desk"])
    browser.open(pages / f"{kind}.html")
    browser.wait("'ready' in document.documentElement.dataset")
