"""
What the page of a replay says of its buckets, of which some are longer than others.
"""

from adapters.reports.page.page import Figure
from adapters.reports.replay.over_time import use
from adapters.reports.replay.results import load
from tests.helpers.replays import HOUR, write_replay


def test_a_long_bucket_counts_for_as_long_as_it_is(tmp_path):
    folder = write_replay(tmp_path / "results")
    path = folder / "runs/solver/seed-0/series.csv"
    head = path.read_text().splitlines()[0]
    rows = [
        dict.fromkeys(head.split(","), 0) | {"t": t, part: 8}
        for t, part in ((0, "used"), (HOUR, "unwanted"), (9999 * HOUR, "used"))
    ]
    lines = [",".join(str(value) for value in row.values()) for row in rows]
    path.write_text("\n".join([head, *lines, ""]))
    found = next(block for block in use(load(str(folder))) if isinstance(block, Figure))
    (panel,) = (each for each in found.panels if each.title == "solver")
    (row,) = (row for row in found.numbers.rows if row[0].text == "solver")

    assert [0, HOUR, 9999 * HOUR, 10_000 * HOUR] == [
        round(moment / panel.chart.moments[1]) * HOUR for moment in panel.chart.moments
    ]
    assert row[1].text.startswith("0.0")
