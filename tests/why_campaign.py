"""
Asks of many small rounds why who waits: ``python -m tests.why_campaign --rounds 100``.

Cores, costs, remedies and "at the latest" are held against the exact model and against
rounds that are played; ``--first`` goes on where another run has ended.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator

from exact import UndecidedError
from models.why.verdicts import Verdict
from solver import RoundAsked, decide_or_fall_back
from tests.helpers.rounds.waiting_cases import CASES, in_haste
from tests.helpers.truth.true_costs import problems_of_cost
from tests.helpers.truth.true_latest import limited, problems_of_starts
from tests.helpers.truth.true_remedies import TrueRemedies
from tests.helpers.truth.true_whys import TrueWhy

KINDS = ("cores", "costs", "remedies", "starts")
SHORT = 0.5
"""
Deterministic units for each of the many rounds that remedies need.
"""
told: Counter[str] = Counter()
"""
How many gangs had which verdict, in all that this process asked.
"""


def main() -> int:
    """
    Run a campaign and say what it found.
    """
    options = _options()
    began, failed, done = time.monotonic(), 0, 0
    for seed in range(options.first, options.first + options.rounds):
        for case in options.cases:
            if time.monotonic() - began > options.seconds:
                break
            found = complaints(case, seed, only=options.only)
            failed += bool(found)
            done += 1
            for text in found:
                print(f"{case} {seed}: {text}", flush=True)
        if time.monotonic() - began > options.seconds:
            break
    print(f"{done} rounds up to seed {seed}, {failed} fail; {dict(told)}")
    return 1 if failed else 0


def complaints(
    case: str, seed: int, *, only: str = "", hasty: bool = False
) -> list[str]:
    """
    Say what is wrong with what the gangs of one round are told.

    A ``hasty`` round is planned with less than its limit.
    """
    found: list[str] = []
    for kind in KINDS:
        if only in {"", kind}:
            try:
                found += _complaints(kind, case, seed, hasty=hasty)
            except UndecidedError:
                told["undecided by the exact model"] += 1
    return found


def _complaints(kind: str, case: str, seed: int, *, hasty: bool) -> Iterator[str]:
    snapshot, policy = CASES[case](seed)
    if kind == "starts":
        snapshot = limited(snapshot, seed)
    if kind == "remedies":
        limits = policy.limits.model_copy(update={"deterministic": SHORT})
        policy = policy.model_copy(update={"limits": limits})
    planned = in_haste(policy) if hasty else policy
    plan = decide_or_fall_back(snapshot, planned)
    if kind == "starts":
        yield from problems_of_starts(snapshot, planned, plan)
        return
    asked = RoundAsked(snapshot, policy, plan, besides=frozenset(Verdict))
    waits = [line.name for line in plan.gangs if line.state == "Waiting"]
    if kind == "costs":
        for name in waits:
            if asked.told(name).verdict is Verdict.OUTRANKED:
                yield from problems_of_cost(snapshot, policy, plan, name, told)
        return
    if kind == "remedies":
        for name in waits[seed % len(waits) :][:1] if waits else ():
            why = asked.why(name)
            if why.verdict is not Verdict.NONE:
                yield from TrueRemedies(snapshot, policy, plan, why, told).problems()
        return
    truth = TrueWhy(snapshot, policy, plan)
    for why in map(asked.why, waits):
        told[why.verdict.value] += 1
        if why.verdict is Verdict.UNDECIDED:
            yield f"{why.gang} is undecided"
        yield from truth.problems(why)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.why_campaign")
    parser.add_argument("--rounds", type=int, default=100, help="seeds of each case")
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--only", default="", choices=("", *KINDS))
    parser.add_argument("--seconds", type=float, default=float("inf"))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
