"""
Print the structure beside its goals: ``python -m tests.house [--where]``.
"""

import sys

from tests.house.goals import rows


def main() -> int:
    """
    Print a line for each count; fail where one became worse than what is held.
    """
    found = rows()
    print(f"{'':38}{'now':>7}{'held':>7}{'goal':>7}")
    for row in found:
        sign = "≥" if row.at_least else "≤"
        note = "" if row.reached else "  not yet"
        if not row.holds:
            note = "  WORSE"
        print(
            f"{row.name:38}{row.now:7}{sign:>2}{row.most:5}{sign:>2}{row.goal:5}{note}"
        )
        if "--where" in sys.argv:
            print("".join(f"    {each}\n" for each in row.where), end="")
    return 0 if all(row.holds for row in found) else 3


if __name__ == "__main__":
    sys.exit(main())
