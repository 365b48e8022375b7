"""
A plan that breaks a rule, in a real cluster: nothing is bound, and it is made again.
"""

import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from adapters.cli.main import run
from tests.cluster.stage import Scheduler
from tests.helpers.eventually import eventually

pytestmark = pytest.mark.cluster
FAULT = """\
from dataclasses import replace

import solver.round

honest = solver.round.plan_of


def crowded(*given, **more):
    plan = honest(*given, **more)
    steps = tuple(replace(step, node="gpu-0") for step in plan.operations)
    return replace(plan, operations=steps)


solver.round.plan_of = crowded
"""
"""
A mistake of ours that puts all pods on one node; it is planted as Python starts.
"""


def planned(path):
    """
    Plan a file in a process that makes the same mistake; give its exit code and words.
    """
    done = subprocess.run(
        [sys.executable, "-m", "adapters.cli.main", "plan", path],
        check=False,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stderr


def test_a_plan_that_breaks_a_rule_binds_nothing_and_is_made_again_from_its_bundle(
    stage, tmp_path, monkeypatch, capsys
):
    (tmp_path / "sitecustomize.py").write_text(FAULT)
    stage.ensure("team")
    stage.empty("team")
    stage.nodes(2)
    stage.gang("team", "train", 2, 8)
    with monkeypatch.context() as faulty:
        faulty.setenv("PYTHONPATH", str(tmp_path))
        with Scheduler(stage, folder=tmp_path) as scheduler:
            eventually(lambda: scheduler.events("plan_rejected"), 60)
            port = scheduler.events("listening")[0]["port"]
            page = f"http://127.0.0.1:{port}/metrics"
            with urllib.request.urlopen(page) as answer:
                metrics = answer.read().decode()
        (event, *_) = scheduler.events("plan_rejected")
        code, said = planned(event["bundle"])

    counted = next(
        float(line.split()[-1])
        for line in metrics.splitlines()
        if line.startswith("phalanx_plans_rejected_total")
    )
    assert counted >= 1
    assert {} == stage.bound("team")
    assert (1, True) == (code, event["violations"][0] in said)

    capsys.readouterr()
    assert 0 == run(["plan", event["bundle"], "-o", "csv"])
    bound = capsys.readouterr().out
    assert "Bind,team/train-0,team/train,gpu-0" in bound
    assert "Bind,team/train-1,team/train,gpu-1" in bound

    rounds = Path(tmp_path) / "default" / "rounds.jsonl"
    assert 0 == run(["get", "rounds", "--rounds", str(rounds), "-o", "wide"])
    assert f"phalanx plan {event['bundle']}" in capsys.readouterr().out
