"""
What others gain and lose by a change: told by their states in both plans.
"""

import pytest

from models.why.remedies import others_changed


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("Waiting", "Starting", "starts"),
        ("Waiting", "Reserved", "starts"),
        ("Reserved", "Starting", ""),
        ("Starting", "Reserved", "waits"),
        ("Starting", "Waiting", "waits"),
        ("Reserved", "Waiting", "waits"),
        ("Running", "Evicting", "leaves"),
        ("Running", "Starting", "leaves"),
        ("Evicting", "Evicting", ""),
    ],
)
def test_who_starts_waits_and_leaves_is_told_by_both_states(before, after, told):
    found = others_changed({"other": before}, {"other": after}, "gang")
    words = zip(("starts", "waits", "leaves"), found, strict=True)

    assert told == "".join(word for word, who in words if who)
