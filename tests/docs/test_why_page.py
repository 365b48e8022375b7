"""
The page on why names the verdicts in the order in which rules are looked for.
"""

import re

from models.why.verdicts import Verdict
from tests.docs.pages import REPOSITORY

PAGE = (REPOSITORY / "docs" / "reference" / "why.md").read_text(encoding="utf-8")


def test_the_table_of_verdicts_has_the_order_of_the_code():
    table = PAGE.partition("| verdict |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (`[^|]*`) \|", table, re.MULTILINE)
    named = [word for row in rows for word in re.findall(r"`(\w+)`", row)]

    assert [verdict.value for verdict in Verdict] == named
