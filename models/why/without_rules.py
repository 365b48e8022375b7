"""
What is said of a gang where nobody looks for rules: it does not wait, or cannot yet.
"""

from models.plan import GangLine
from models.why.reasons import NOTHING_NEEDED, Waiting, though
from models.why.remedies import WhenStarts
from models.why.verdicts import VERDICT_OF, Blocker, Verdict, WhyWaits

START = {"Starting": "in this round", "Reserved": "as soon as others have left"}
"""
When a gang starts that has places in a plan.
"""


def no_wait(line: GangLine) -> WhyWaits:
    """
    Say of a gang that does not wait what it does.
    """
    said = {
        "Starting": f"starts {START['Starting']}",
        "Growing": "runs, and grows in this round",
        "Running": "runs",
        "Finished": "has finished",
        "Evicting": "leaves in this round",
        "Reserved": f"has its places and starts {START['Reserved']}",
    }
    said["Waiting"] = NOTHING_NEEDED
    if not line.pods.running:
        said["Growing"] = "gets its first pods in this round; it needs none to start"
    sentence = said.get(line.state, "does not wait")
    if line.waiting is not None:
        message = line.waiting.message
        sentence = message if line.state == "Reserved" else f"{sentence}: {message}"
    return WhyWaits(
        gang=line.name, state=line.state, verdict=Verdict.NONE, sentence=sentence
    )


def no_start_awaited(line: GangLine) -> WhenStarts:
    """
    Say of a gang that does not wait for places when it starts.
    """
    if line.state not in START:
        return WhenStarts(sentence="does not wait for a start")
    latest = 0 if line.state == "Starting" else None
    return WhenStarts(latest=latest, sentence=f"starts {START[line.state]}")


def not_ready(gang: str, waiting: Waiting) -> WhyWaits:
    """
    Say what keeps a gang from being planned at all, whatever room there is.
    """
    facts = waiting.facts
    has = facts.get("have", facts.get("free"))
    needs = facts.get("needs")
    at = next((facts[key] for key in ("queue", "mate", "by") if key in facts), "")
    resource = str(facts.get("resource", "pods" if "have" in facts else ""))
    verdict = VERDICT_OF[waiting.reason]
    detail = waiting.message.removeprefix(f"could start alone{though(facts)}")
    entry = Blocker(
        rule=verdict,
        at=str(at),
        resource=resource,
        has=has if isinstance(has, int) else None,
        needs=needs if isinstance(needs, int) else None,
        facts={"detail": detail, **facts, "reason": waiting.reason.value},
    )
    return WhyWaits(
        gang=gang,
        state="Waiting",
        verdict=verdict,
        sentence=waiting.message,
        because=(entry,),
        proof="counting",
    )
