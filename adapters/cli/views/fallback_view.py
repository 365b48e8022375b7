"""
A round that was planned again, as a person is warned of it.
"""

from typing import TYPE_CHECKING

from adapters.cli.terminal.output import note

if TYPE_CHECKING:
    from models.plan import Plan

WAYS = {
    "as-asked": "as asked",
    "without-evictions": "without evictions",
    "greedy": "by greedy, without evictions",
}


def warn_of(plan: "Plan", *, debug: bool) -> None:
    """
    Say on standard error that a plan was made in a lesser way, why, and what to do.
    """
    if plan.fallback is None:
        return
    from adapters.files.bundles import traceback_of, why_failed

    for one in plan.fallback.failed:
        if debug and one.error is not None:
            note(traceback_of(one).rstrip("\n"))
        what = "planning broke" if one.error else "the plan broke its own rules"
        note(f"warning: {WAYS[one.way]}, {what}: {why_failed(one)}")
    note(f"warning: planned again {WAYS[plan.fallback.way]}; this plan was judged")
    note("do: report it with the input file and `phalanx version -o json`")
