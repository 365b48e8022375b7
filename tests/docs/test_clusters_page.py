"""
The role on the page about clusters has a rule for every kind that is followed.
"""

import yaml

from adapters.kube.dialects.registry import dialects
from adapters.kube.watch.source import resources_of
from tests.docs.pages import REPOSITORY, blocks

PAGE = REPOSITORY / "docs" / "reference" / "clusters.md"


def test_the_role_on_the_page_has_what_is_followed_and_no_more():
    block = next(b for b in blocks(PAGE) if b.text.startswith("rules:"))
    rules = yaml.safe_load(block.text)["rules"]
    allowed = {
        (group, plural)
        for rule in rules
        for group in rule["apiGroups"]
        for plural in rule["resources"]
    }
    followed = {(r.group, r.plural) for r in resources_of(dialects())}

    assert followed == allowed
    assert all(["list", "watch"] == rule["verbs"] for rule in rules)
