from tests.house.goals import rows


def test_the_structure_gets_no_worse():
    worse = [row for row in rows() if not row.holds]

    assert [] == worse
