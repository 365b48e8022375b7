import pytest

from tests.house.goals import rows


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.name)
def test_the_structure_gets_no_worse(row):
    assert row.holds, f"{row.name}: {row.now}, held is {row.most}; {list(row.where)}"
