"""
What a replay's page says: measures, windows, levels, and what it does without.
"""

import json
import shutil

import pytest

from adapters.reports.page.markdown import as_markdown
from adapters.reports.page.page import Figure, Grid, Text
from adapters.reports.replay import strips
from adapters.reports.replay.measures import points
from adapters.reports.replay.over_time import jain
from adapters.reports.replay.replay_page import replay_page
from adapters.reports.replay.results import load
from tests.helpers.replays import DAY, HOUR, write_replay


def page_of(folder, **options):
    return replay_page(load(str(folder)), **options)


def blocks(page, kind):
    return [
        b for section in page.sections for b in section.blocks if isinstance(b, kind)
    ]


def figure(page, name):
    return next(each for each in blocks(page, Figure) if each.name == name)


def plain(text):
    return text.replace("\N{NO-BREAK SPACE}", " ")


def rename(folder, **metrics):
    """
    Replace metrics of the solver.
    """
    path = folder / "results.json"
    document = json.loads(path.read_text())
    for run in document["runs"]:
        if run["strategy"] == "solver":
            run["metrics"] |= metrics
    path.write_text(json.dumps(document))


@pytest.fixture
def folder(tmp_path):
    return write_replay(tmp_path / "results")


def test_verdict_names_what_changes_against_the_baseline(folder):
    document = json.loads((folder / "results.json").read_text())
    for run, mean, p99, starved in zip(
        document["runs"], (1_000, 900), (40_000, 50_000), (7, 3), strict=True
    ):
        run["metrics"]["wait"]["mean"] = mean
        run["metrics"]["wait"]["bySize"] = [{"size": "8+", "jobs": 9, "p99": p99}]
        run["metrics"]["starved"]["over12h"] = starved
    (folder / "results.json").write_text(json.dumps(document))

    verdict = plain(page_of(folder).verdict)

    assert (
        "Against greedy, solver lowers the mean wait by 10 %, and raises the "
        "99th-percentile wait of jobs of 8 GPUs and more by 25 %; 3 jobs waited over "
        "12 hours, instead of 7."
    ) == verdict


def test_one_pair_has_no_interval_and_says_so(folder):
    page = page_of(folder)

    assert "without an interval" in page.certainty
    grid = blocks(page, Grid)[0]
    assert "95 % interval" not in [column.name for column in grid.columns]
    assert "1 pair of replays, so there is no interval" in grid.notes[0]


def test_interval_that_holds_zero_is_not_told_apart(tmp_path):
    folder = write_replay(tmp_path, seeds=(0, 1, 2))
    document = json.loads((folder / "results.json").read_text())
    row = document["paired"][0]
    document["paired"] = [row]
    row["difference"] = {"mean": -60, "low": -240, "high": 48}
    row["relative"] = {"mean": -0.05, "low": -0.2, "high": 0.04}
    (folder / "results.json").write_text(json.dumps(document))

    page = page_of(folder)

    grid = blocks(page, Grid)[0]
    words = [plain(cell.text) for cell in grid.rows[0]]
    assert ["−1m00s (−5.0 %)", "[−20 %, +4.0 %]"] == words[3:5]
    assert "not told apart" == words[-1]
    assert "not told apart in 1" in page.certainty
    assert " (not told apart)" in page.verdict


def test_shares_that_are_shown_alike_are_about_equal(folder):
    document = json.loads((folder / "results.json").read_text())
    row = next(r for r in document["paired"] if r["metric"] == "gpus.used")
    document["paired"] = [row]
    row["difference"]["mean"] = -0.0002
    for run, used in zip(document["runs"], (0.7792, 0.7790), strict=True):
        run["metrics"]["gpus"]["used"] = used
    (folder / "results.json").write_text(json.dumps(document))

    page = page_of(folder)

    assert "about equal" == blocks(page, Grid)[0].rows[0][-1].text
    assert "worse in 0, equal in 1" in page.certainty
    assert "" == next(t.tone for t in page.tiles if t.label == "GPU time used")


@pytest.mark.parametrize(("block", "narrow"), [(7 * DAY, True), (2 * DAY, False)])
def test_seeds_drawn_from_few_parts_of_a_trace_are_warned_of(tmp_path, block, narrow):
    folder = write_replay(tmp_path, seeds=(0, 1, 2), num_jobs=30)
    document = json.loads((folder / "results.json").read_text())
    document["settings"]["block"] = block
    (folder / "results.json").write_text(json.dumps(document))

    said = "drawn from 2 parts of 7 days of one trace"
    assert narrow == (said in page_of(folder).certainty)


def test_alone_a_strategy_is_compared_with_nothing(tmp_path):
    page = page_of(write_replay(tmp_path, strategies=("greedy",)))

    assert "there is nothing to compare with" in page.verdict
    assert page.tiles
    assert figure(page, "use").panels


def test_best_of_more_than_two_strategies_is_named(tmp_path):
    names = ("greedy", "solver", "easy", "per-pod")

    page = page_of(write_replay(tmp_path, strategies=names))

    assert any("Lowest of all 4 strategies" in line for line in page.lead)


def test_strategies_that_are_equally_good_are_all_named(tmp_path):
    folder = write_replay(tmp_path, strategies=("greedy", "solver", "easy"))
    document = json.loads((folder / "results.json").read_text())
    for run, mean in zip(document["runs"], (600, 300, 300), strict=True):
        run["metrics"]["wait"]["mean"] = mean
        run["metrics"]["wait"]["bySize"] = [{"size": "8+", "jobs": 9, "p99": 900}]
        run["metrics"]["starved"]["over12h"] = 0
    (folder / "results.json").write_text(json.dumps(document))

    page = page_of(folder)

    assert "Lowest of all 3 strategies: mean wait: solver and easy, 5m00s." in page.lead
    assert page.verdict.endswith("; no job waited over 12 hours.")
    assert "solver beside greedy" == blocks(page, Grid)[0].caption


def test_a_replay_that_was_cut_says_when(folder):
    path = folder / "results.json"
    document = json.loads(path.read_text())
    document["settings"]["until"] = 2400
    path.write_text(json.dumps(document))

    assert "40 minutes have passed" in plain(as_markdown(page_of(folder)))


def test_replay_without_jobs_says_so(tmp_path):
    page = page_of(write_replay(tmp_path, num_jobs=0))

    assert "No job ever ran" in as_markdown(page)
    assert "0 jobs" in page.lead[0]


def test_missing_tables_are_named_and_the_rest_is_drawn(folder):
    (folder / "timings.json").unlink()
    shutil.rmtree(folder / "runs/solver")

    page = page_of(folder)

    said = "\n".join(line for text in blocks(page, Text) for line in text.paragraphs)
    for name in ("series.csv", "queues.csv", "jobs"):
        assert f"runs/solver/seed-0/{name} is missing: solver is not drawn." in said
    assert "There is no timings.json" in said
    assert ["greedy"] == [panel.title for panel in figure(page, "use").panels]


def test_parts_of_the_cluster_reach_the_top_at_every_moment(folder):
    for panel in figure(page_of(folder), "use").panels:
        sums = [sum(shares) for shares in zip(*panel.chart.shares, strict=True)]

        assert [100.0] * len(sums) == pytest.approx(sums)
        assert len(panel.chart.moments) == len(sums)


def test_long_replay_is_averaged_before_it_is_drawn(tmp_path):
    page = page_of(write_replay(tmp_path, num_jobs=50, days=200))

    for name in ("use", "queue", "fairness"):
        for panel in figure(page, name).panels:
            assert len(panel.chart.moments) <= 241


def test_nodes_are_as_full_as_the_jobs_that_ran_on_them(tmp_path):
    folder = write_replay(tmp_path, num_jobs=0, num_nodes=2, strategies=("greedy",))
    (folder / "runs/greedy/seed-0/jobs.csv").write_text(
        "queue,gpus,start,end,wait,nodes\n"
        f"q,8,0,{DAY},0,n1*8\n"
        f"q,4,{DAY},{2 * DAY},0,n1*4\n"
        f"q,2,0,{2 * DAY},0,n2*2\n"
        "q,8,,,9,\n"
    )

    nodes = figure(page_of(folder), "nodes")

    assert ["n1", "n2"] == list(nodes.panels[0].chart.rows)
    assert [
        (0, 24, 0, "h4"),
        (24, 48, 0, "h2"),
        (0, 48, 1, "h1"),
    ] == [tuple(map(_whole, run)) for run in nodes.panels[0].chart.runs]
    assert ["50.0 %", "0.0 %", "25.0 %"] == [
        plain(cell.text) for cell in nodes.numbers.rows[0][2:]
    ]


def test_attempts_that_are_not_drawn_are_counted(folder):
    rename(folder, lost={"evictions": 1_200, "failures": 34, "gpuHours": 5.0})

    notes = figure(page_of(folder), "nodes").numbers.notes

    assert "1,234 of solver" in plain(notes[-1])


def _whole(value):
    return round(value) if isinstance(value, float) else value


def test_window_that_is_asked_for_is_shown_first(folder):
    nodes = figure(page_of(folder, windows=[(2 * HOUR, 5 * HOUR)]), "nodes")

    first = nodes.panels[0]
    assert "2h00m to 5h00m" == first.group
    assert (0, 180) == (first.chart.time.low, first.chart.time.high)
    assert (
        "time since 2h00m after the first submission, minutes" == first.chart.time.title
    )
    assert {"greedy", "solver"} == {panel.title for panel in nodes.panels[:2]}


def test_nodes_without_gpus_are_drawn_idle(tmp_path):
    folder = write_replay(tmp_path, num_nodes=2, num_jobs=20, strategies=("greedy",))
    document = json.loads((folder / "results.json").read_text())
    document["cluster"]["classes"] = [{"nodes": 2, "gpus": 0}]
    (folder / "results.json").write_text(json.dumps(document))
    jobs = folder / "runs/greedy/seed-0/jobs.csv"
    jobs.write_text("queue,gpus,start,end,wait,nodes\nq,0,0,9,0,n1*0 n2*0\n")

    nodes = figure(page_of(folder), "nodes")

    assert {"h0"} == {run[3] for run in nodes.panels[0].chart.runs}


def test_many_nodes_share_rows(tmp_path):
    folder = write_replay(tmp_path, num_nodes=200, num_jobs=2_000)

    nodes = figure(page_of(folder), "nodes")

    assert len(nodes.panels[0].chart.rows) <= 64
    assert "200 nodes are drawn in rows of 4." in nodes.reading


def test_nodes_share_rows_where_strips_would_have_too_many_pieces(folder, monkeypatch):
    before = figure(page_of(folder), "nodes")
    pieces = sum(len(panel.chart.runs) for panel in before.panels)
    monkeypatch.setattr(strips, "MOST_RUNS", pieces // 2)

    after = figure(page_of(folder), "nodes")

    assert sum(len(panel.chart.runs) for panel in after.panels) <= pieces // 2
    assert "12 nodes are drawn in rows of " in after.reading
    assert before.numbers.rows[0][2].text == after.numbers.rows[0][2].text


def test_node_on_which_nothing_ran_is_drawn_idle(tmp_path):
    folder = write_replay(tmp_path, num_jobs=0, num_nodes=3, strategies=("greedy",))
    (folder / "runs/greedy/seed-0/jobs.csv").write_text(
        f"queue,gpus,start,end,wait,nodes\nq,8,0,{DAY},0,n2*8\n"
    )

    nodes = figure(page_of(folder), "nodes")

    assert ["n2", "unused 1", "unused 2"] == list(nodes.panels[0].chart.rows)
    assert "33.3 %" == plain(nodes.numbers.rows[0][2].text)


@pytest.mark.parametrize(
    ("rows", "index"),
    [
        ([("a", 5, 10, 0), ("b", 5, 10, 0)], 1.0),
        ([("a", 10, 10, 0), ("b", 0, 10, 3)], 0.5),
        ([("a", 0, 10, 0)], None),
        ([("a", 4, 0, 0), ("b", 5, 10, 0)], 1.0),
        ([("a", 0, 0, 1), ("b", 5, 10, 0)], 0.5),
        ([], None),
    ],
)
def test_fairness_counts_queues_with_a_share_or_with_waiting_gangs(rows, index):
    assert index == jain(rows)


def test_every_number_of_the_results_is_carried_along(folder):
    page = page_of(folder)

    assert json.loads((folder / "results.json").read_text()) == {
        key: value for key, value in page.document.items() if key != "timings"
    }
    assert json.loads((folder / "timings.json").read_text()) == page.document["timings"]


@pytest.mark.parametrize("odd", [None, "text", [], {"bySize": 7}, {"mean": "x"}])
def test_metrics_of_an_odd_form_are_left_out(folder, odd):
    rename(folder, wait=odd, gpus=odd, rounds=odd)

    assert page_of(folder).tiles


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (0.0123, "+1.2 points"),
        (-0.0123, "−1.2 points"),
        (0.0004, "+0.04 points"),
        (-0.00001, "0 points"),
        (0.0, "0 points"),
    ],
)
def test_small_difference_of_shares_is_never_written_as_zero_with_a_sign(part, words):
    assert words == plain(points(part))


def test_queues_of_one_share_are_listed_as_people_count(tmp_path):
    page = page_of(write_replay(tmp_path, num_queues=12, num_jobs=30))

    grid = next(g for g in blocks(page, Grid) if g.caption.startswith("Queues:"))

    assert [f"queue-{at}" for at in range(12)] == [row[0].text for row in grid.rows]


def test_job_that_did_not_wait_says_so(folder):
    document = json.loads((folder / "results.json").read_text())
    document["largest"] = [
        {"strategy": "solver", "job": "a", "baselineWait": 600, "wait": 0}
    ]
    (folder / "results.json").write_text(json.dumps(document))

    grid = next(g for g in blocks(page_of(folder), Grid) if "differ most" in g.caption)
    assert "greedy: no reason noted; solver: did not wait" == grid.rows[0][-1].text


def test_reason_that_both_gave_is_said_once(folder):
    document = json.loads((folder / "results.json").read_text())
    line = {"baselineReason": "Fragmented", "reason": "Fragmented"}
    document["largest"] = [
        {"strategy": "solver", "job": "a", "baselineWait": 600, "wait": 60, **line}
    ]
    (folder / "results.json").write_text(json.dumps(document))

    grid = next(g for g in blocks(page_of(folder), Grid) if "differ most" in g.caption)
    assert (
        "both: fragments: enough free GPUs, in pieces too small (Fragmented)"
        == grid.rows[0][-1].text
    )


@pytest.mark.parametrize("tiers", [["entitled", "packing"], [{"name": "entitled"}]])
def test_policy_is_told_by_the_names_of_its_tiers(folder, tiers):
    document = json.loads((folder / "results.json").read_text())
    document["settings"]["policy"] = {"tiers": tiers}
    (folder / "results.json").write_text(json.dumps(document))

    text = as_markdown(page_of(folder))

    assert "Policy: tiers entitled" in text
    assert "{" not in text.partition("Policy: ")[2]


def test_cluster_that_is_made_up_says_so_among_what_was_not_modelled(folder):
    document = json.loads((folder / "results.json").read_text())
    document["cluster"]["notes"] = ["nodes made up"]
    (folder / "results.json").write_text(json.dumps(document))

    limits = next(s for s in page_of(folder).sections if s.name == "limits")

    assert "nodes made up" in limits.blocks[-1].items


def test_time_that_nobody_took_has_no_column(folder):
    timings = json.loads((folder / "timings.json").read_text())
    for run in timings["runs"]:
        del run["seconds"]["total"]
    (folder / "timings.json").write_text(json.dumps(timings))

    grid = next(
        g
        for g in blocks(page_of(folder), Grid)
        if g.caption == "Decision time of all planned rounds"
    )

    heads = [column.name for column in grid.columns]
    assert "Whole replay" not in heads
    assert "All decisions" in heads
