"""
What a plan calls proven: neither other names nor a longer search come to more.
"""

from models.documents.scenario import Scenario
from models.plan import Plan
from solver.round import decide
from tests.helpers.rounds.renamed import aged, renamed
from tests.odd.difference import first_difference
from tests.odd.rounds import read
from tests.odd.world import Part

LONGER = 4
"""
How many times the limit of the longer search is that of the policy.
"""


def contradiction(document: Part, seed: int) -> str | None:
    """
    Say in one line where one plan is better in what another of the round calls proven.

    Gangs get ages of their own: of equal age, names say who comes first.
    """
    document = aged(document)
    scenario = read(document)
    if scenario is None or not document["given"].get("nodes"):
        return None
    other = read(renamed(document, seed))
    if other is None:
        return None
    plan = decide(scenario.snapshot, scenario.policy)
    again = _decided(other, seed=seed)
    longer = _decided(scenario, longer=LONGER)
    for words, one, two in (
        ("other names", plan, again),
        ("the first names", again, plan),
        ("a longer search", plan, longer),
        ("a shorter search", longer, plan),
    ):
        found = _better(one, two)
        if found is not None:
            return f"proven, and false by {words}: {found}"
    return None


def _decided(scenario: Scenario, *, seed: int = 0, longer: int = 1) -> Plan:
    limits = scenario.policy.limits
    changed = {"deterministic": limits.deterministic * longer}
    policy = scenario.policy.model_copy(
        update={"seed": seed, "limits": limits.model_copy(update=changed)}
    )
    return decide(scenario.snapshot, policy)


def _better(plan: Plan, other: Plan) -> str | None:
    """
    Name the first tier that differs, where one is proven and the other is better.
    """
    found = first_difference(plan, other)
    if found is None or found.is_better or not found.is_proven:
        return None
    return f"{found.name}: {found.value}, and {found.other}"
