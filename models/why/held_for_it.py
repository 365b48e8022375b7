"""
What is held for a gang that waits, in words: nodes now, or no longer since it slipped.
"""

from collections.abc import Mapping

from models.resources import format_duration


def held_for_it(facts: Mapping[str, object]) -> str:
    """
    Say how many nodes are held for a head, or that holding them was given up.
    """
    held, slipped = facts.get("held"), facts.get("slipped")
    if isinstance(slipped, int):
        when = format_duration(slipped)
        return (
            "; no node is held for it any more, since its start has slipped too far: "
            f"it may be in {when}"
        )
    if not isinstance(held, int) or held <= 0:
        return ""
    return f"; {held:,} {'node is' if held == 1 else 'nodes are'} held for it"
