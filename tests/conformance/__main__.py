"""
Print where our end of an outside case is not that of the other scheduler.

``python -m tests.conformance [CASE…] [--greedy] [--all]``
"""

import sys
from collections import Counter

from tests.conformance.cases import MISSING, Case, read_cases
from tests.conformance.exceptions import listed
from tests.conformance.play import Verdict, judged


def main(words: list[str]) -> int:
    """
    Play the cases that are named, or all, and print those that differ.
    """
    cases = read_cases()
    if not cases:
        print(MISSING, file=sys.stderr)
        return 1
    names = {word for word in words if not word.startswith("--")}
    strategy = "greedy" if "--greedy" in words else "solver"
    known = listed()
    seen: Counter[str] = Counter()
    for case in cases:
        if names and case.name not in names:
            continue
        if case.needs:
            seen["need more than whole GPUs"] += 1
            continue
        kind, lines = _told(case, strategy, is_listed=case.name in known)
        seen[kind] += 1
        if (
            kind not in {"equal", "differ, at least as good"}
            or "--all" in words
            or names
        ):
            print("\n".join(lines))
    print("; ".join(f"{number} {kind}" for kind, number in sorted(seen.items())))
    return 0


def _told(case: Case, strategy: str, *, is_listed: bool) -> tuple[str, list[str]]:
    try:
        found = judged(case, strategy)
    except Exception as error:  # noqa: BLE001 - one case must not hide the others
        return "failed", [f"{case.name}: {type(error).__name__}: {error}"]
    kind = _kind(found, is_listed=is_listed)
    ours = found.ours
    effort = (
        f"{ours.evictions} evictions in {ours.rounds} rounds, "
        f"not {case.evictions} in {case.rounds}"
    )
    return kind, [
        f"{case.name}: {found.worse or kind}; {effort}",
        *(f"  ! {text}" for text in ours.violations),
        *(f"  {name}: {theirs} → {mine}" for name, theirs, mine in found.running),
    ]


def _kind(found: Verdict, *, is_listed: bool) -> str:
    if found.ours.violations:
        return "illegal"
    if found.worse:
        return "worse, and listed" if is_listed else "worse"
    return "differ, at least as good" if found.running else "equal"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
