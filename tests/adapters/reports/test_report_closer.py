"""
A closer look at charts: values by key and by pointer, and a part of the time.
"""

import pytest

from tests.adapters.reports.drawn_pages import (
    ENTER,
    NEEDS_A_BROWSER,
    SCREENS,
    TAB,
    ready,
)

pytestmark = NEEDS_A_BROWSER


CLOSER = ("waits", "use", "queue", "nodes", "fairness")

RIGHT, END = ("ArrowRight", 39), ("End", 35)


def said(browser, name):
    return browser.evaluate(f"document.querySelector('#{name} .readout').textContent")


@pytest.mark.parametrize("name", CLOSER)
def test_values_of_a_chart_are_read_by_key(browser, pages, name):
    ready(browser, pages)
    control = f"document.querySelector('#{name} input[type=range]')"

    browser.evaluate(f"{control}.focus()")
    browser.press(*RIGHT)
    near = said(browser, name)
    browser.press(*END)
    far = said(browser, name)

    assert "greedy" in near
    assert "solver" in near
    assert near != far
    assert far == browser.evaluate(f"{control}.getAttribute('aria-valuetext')")
    assert [] == browser.complaints()


def test_what_is_read_stands_in_the_tables(browser, pages):
    ready(browser, pages)
    browser.evaluate("document.querySelector('#waits input[type=range]').focus()")
    browser.press(*END)
    cells = browser.evaluate(
        "[...document.querySelectorAll('#waits details tbody tr')]"
        ".map(row => [...row.cells].map(cell => cell.textContent))"
    )
    size, *_ = said(browser, "waits").partition(": ")
    rows = [row for row in cells if row[0] == size]

    assert rows
    for row in rows:
        text = f"{row[1]}: median {row[4]}, 90 % {row[5]}, 99 % {row[6]}"
        assert text in said(browser, "waits")


_POINT = """
(() => {
  const svg = [...document.querySelectorAll("#%s .panel:not([hidden]) svg")]
    .find((svg) => svg.getClientRects().length);
  svg.scrollIntoView({block: "center", behavior: "instant"});
  const box = svg.getBoundingClientRect();
  return [box.left + box.width * %s, box.top + box.height * 0.5];
})()
"""


def pointed(browser, name, part, kind="mouseMoved"):
    across, down = browser.evaluate(_POINT % (name, part))
    more = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
    browser.call("Input.dispatchMouseEvent", type=kind, x=across, y=down, **more)


@pytest.mark.parametrize("name", CLOSER)
def test_values_of_a_chart_are_read_where_the_pointer_is(browser, pages, name):
    ready(browser, pages)
    before = said(browser, name)

    pointed(browser, name, 0.3)
    near = said(browser, name)
    pointed(browser, name, 0.8)

    assert before != near
    assert "greedy" in near or "full" in near or "idle" in near
    if name != "waits":
        assert near != said(browser, name)


_PATHS = (
    "[...document.querySelectorAll('#{0} .panel:not([hidden]) .wide > svg')]"
    ".map(svg => [...svg.querySelectorAll('.closer path')]"
    ".map(path => path.getAttribute('d')).join())"
)


@pytest.mark.parametrize("name", ["use", "queue", "nodes", "fairness"])
def test_a_part_of_the_time_is_chosen_by_key_and_drawn_again(browser, pages, name):
    ready(browser, pages)
    figure = f"document.querySelector('#{name}')"
    panels = browser.evaluate(
        f"{figure}.querySelectorAll('.panel:not([hidden])').length"
    )

    browser.evaluate(f"{figure}.querySelector('.looking summary').focus()")
    browser.press(*ENTER)
    browser.press(*TAB)
    browser.press(*TAB)
    browser.press(*TAB)
    assert "Closer" == browser.evaluate("document.activeElement.textContent")
    browser.press(*ENTER)
    near = browser.evaluate(_PATHS.format(name))
    browser.press(*ENTER)
    nearer = browser.evaluate(_PATHS.format(name))

    assert panels == len(near)
    assert all(near)
    assert near != nearer
    first, last = browser.evaluate(
        f"[...{figure}.querySelectorAll('input[type=number]')].map(f => +f.value)"
    )
    assert first < last

    browser.evaluate(f"{figure}.querySelector('.window button:last-child').click()")
    assert not any(browser.evaluate(_PATHS.format(name)))
    assert 0 == browser.evaluate(f"{figure}.querySelectorAll('.away').length")
    assert [] == browser.complaints()


def test_what_is_dragged_over_is_looked_at_closer(browser, pages):
    ready(browser, pages)

    pointed(browser, "queue", 0.4)
    pointed(browser, "queue", 0.4, "mousePressed")
    pointed(browser, "queue", 0.6)
    pointed(browser, "queue", 0.6, "mouseReleased")
    low, high = browser.evaluate(
        "[...document.querySelectorAll('#queue input[type=number]')].map(f => +f.value)"
    )

    assert 1 < low < high < 4
    assert all(browser.evaluate(_PATHS.format("queue")))


def test_a_window_that_makes_no_sense_is_not_taken(browser, pages):
    ready(browser, pages)
    fields = "[...document.querySelectorAll('#use input[type=number]')]"
    before = browser.evaluate(f"{fields}.map(f => f.value)")

    for value in ("", "1e9", "-5"):
        browser.evaluate(f"{fields}[1].value = '{value}'")
        browser.evaluate(f"{fields}[1].dispatchEvent(new Event('change'))")
        low, high = browser.evaluate(f"{fields}.map(f => +f.value)")
        assert float(before[0]) <= low < high <= float(before[1])
    assert [] == browser.complaints()


def test_numbers_of_a_chart_are_opened_by_key(browser, pages, kind):
    browser.screen(*SCREENS["desk"])
    browser.open(pages / f"{kind}.html")

    browser.evaluate("document.querySelector('figure summary').focus()")
    browser.press(*ENTER)

    assert browser.evaluate("document.querySelector('figure details').open")


def test_reader_finds_landmarks_and_named_charts(browser, pages, kind):
    browser.screen(*SCREENS["desk"])
    browser.open(pages / f"{kind}.html")

    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]

    def named(role):
        return [
            node["name"]["value"]
            for node in nodes
            if node.get("role", {}).get("value") == role and not node["ignored"]
        ]

    for role in ("banner", "navigation", "main", "contentinfo"):
        assert 1 == len(named(role)), role
    assert len(named("region")) >= 5
    charts = named("image")
    shown = browser.evaluate(
        "[...document.querySelectorAll('.drawing')]"
        ".filter(d => d.getClientRects().length).length"
    )
    assert shown == len(charts)
    assert all(charts)
    assert len(charts) == len(set(charts))
    for role in ("button", "link", "figure", "table", "columnheader", "rowheader"):
        assert named(role), role
        assert all(named(role)), role
