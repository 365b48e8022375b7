"""
Plans many odd rounds: ``python -m tests.campaign --rounds 1000 --seed today``.

Run from the top of the checkout.  Two processes share the rounds; each round that
fails is made small and written as a file that ``phalanx scenario run`` takes.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

from adapters.files.writing.snapshot_writer import snapshot_document
from adapters.files.writing.yaml_writer import yaml_text
from solver.next_snapshot import carry_out
from solver.round import decide
from tests.odd.checks import complaint, kind
from tests.odd.proofs import contradiction
from tests.odd.rounds import odd_round, read
from tests.odd.shrink import shrunk
from tests.odd.world import Part

SECONDS = (1, 60, 600, 7200)
OTHER_NAMES = 7
SHRINKING = 120.0
"""
For how many seconds a failing round is made smaller: one of middle size may take hours.
"""
_LOT = 50


@dataclass(frozen=True)
class Failure:
    """
    A round that failed, made small, and why it did.
    """

    seed: str
    why: str
    document: Part


def main() -> int:
    """
    Run a campaign and say what it found.
    """
    options = _options()
    failures: list[Failure] = []
    done = 0
    began = time.monotonic()
    last = options.first + options.rounds
    lots = range(options.first, last, _LOT)
    with ProcessPoolExecutor(options.processes) as pool:
        tasks = [
            pool.submit(
                run_lot,
                options.seed,
                at,
                min(_LOT, last - at),
                options.exactly,
                options.later,
                names=options.names,
            )
            for at in lots
        ]
        for task in tasks:
            if time.monotonic() - began > options.seconds:
                pool.shutdown(cancel_futures=True)
                break
            found = task.result()
            done += _LOT
            for failure in found:
                failures.append(failure)
                _write(options.out, failure)
    kinds = Counter(kind(failure.why) for failure in failures)
    print(
        f"seed {options.seed}: {min(done, options.rounds)} rounds, {len(failures)} fail"
    )
    for name, number in kinds.most_common():
        print(f"{number:6} {name}")
    return 1 if failures else 0


def run_lot(
    seed: str,
    first: int,
    number: int,
    exactly: int,
    later: int = 0,
    *,
    names: bool = False,
) -> list[Failure]:
    """
    Plan some rounds in a row; every so many of them against the exact model.
    """
    found = []
    for at in range(first, first + number):
        exact = bool(exactly) and at % exactly == 0
        failure = failure_of(f"{seed}-{at}", exact=exact, later=later, names=names)
        found += [] if failure is None else [failure]
    return found


def failure_of(
    seed: str, *, exact: bool, later: int = 0, names: bool = False
) -> Failure | None:
    """
    Plan one round and some that follow from it; make the first small that fails.

    With ``names`` each is planned with other names and with a longer search as well.
    """
    for document in _in_a_row(odd_round(seed), Random(f"later-{seed}"), later):
        why = _complaint(document, exact=exact, names=names)
        if why is not None:
            return _made_small(seed, document, why, exact=exact, names=names)
    return None


def _in_a_row(document: Part, chance: Random, later: int) -> Iterator[Part]:
    """
    Walk a round and those that follow where its plans are carried out.
    """
    yield document
    for _ in range(later):
        scenario = read(document)
        if scenario is None:
            return
        plan = decide(scenario.snapshot, scenario.policy)
        after = carry_out(scenario.snapshot, plan, chance.choice(SECONDS))
        given = snapshot_document(after)["given"]
        document = {**document, "given": json.loads(json.dumps(given))}
        if read(document) is None:
            return
        yield document


def _made_small(
    seed: str, document: Part, why: str, *, exact: bool, names: bool
) -> Failure:
    def fails(other: Part) -> bool:
        found = _complaint(other, exact=exact, names=names)
        return found is not None and kind(found) == kind(why)

    small = shrunk(document, fails, SHRINKING)
    return Failure(seed, _complaint(small, exact=exact, names=names) or why, small)


def _complaint(document: Part, *, exact: bool, names: bool) -> str | None:
    scenario = read(document)
    if scenario is None:
        return None
    found = complaint(scenario, exactly=exact)
    return found or (contradiction(document, OTHER_NAMES) if names else None)


def _write(folder: Path, failure: Failure) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rule = f"Seed {failure.seed}: {failure.why}"
    text = yaml_text({**failure.document, "rule": rule})
    (folder / f"{failure.seed}.yaml").write_text(text, encoding="utf-8")
    print(f"{failure.seed}: {failure.why}", flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.campaign")
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, metavar="N")
    parser.add_argument(
        "--seed",
        default="0",
        help="any word; of parts-…, tied-…, stale-…, lent-…, timed-…, beside-…,"
        " full-… and middle-… rounds are drawn so, of full+beside-… in both ways",
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--exactly",
        type=int,
        default=0,
        metavar="N",
        help="hold each Nth round against the exact model",
    )
    parser.add_argument(
        "--later",
        type=int,
        default=0,
        metavar="N",
        help="plan N rounds after each one, as if its plan had been carried out",
    )
    parser.add_argument(
        "--names",
        action="store_true",
        help="plan each with other names and with a longer search, too",
    )
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--out", type=Path, default=Path("odd-rounds"))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
