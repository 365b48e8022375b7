"""
What happened to gangs, as the record of rounds tells it: starts, evictions, refusals.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

_DONE = {"Bind": "Bound", "Evict": "Evicted", "Move": "Moved"}
_FAILED = {"Bind": "BindFailed", "Evict": "EvictionFailed", "Move": "EvictionFailed"}
_GREW = {"Starting": "Started", "Growing": "Grew"}
OUTCOMES = "done", "dropped", "rejected", "failed"
"""
What comes of a round that is recorded.
"""
EVENTS = (
    *("Begun", *_GREW.values(), *_DONE.values()),
    *(*dict.fromkeys(_FAILED.values()), "Ended"),
    *(f"Round{word.capitalize()}" for word in (*OUTCOMES[1:], "skipped")),
)
"""
What happens to gangs, and to rounds without effect.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """
    One thing that happened to a gang in a round; without a gang, to the round itself.

    ``why`` is the rule and for whom, or the words of the server, or of the round.
    """

    began: str
    round: str
    event: str
    gang: str = ""
    pods: int = 0
    why: str = ""

    @property
    def key(self) -> str:
        """
        Name it as nothing else is named.
        """
        return f"{self.round}/{self.event}/{self.gang}/{self.why}"

    def document(self) -> dict[str, Any]:
        """
        Give it as plain values.
        """
        return asdict(self)


def happenings(records: Iterable[Mapping[str, Any]]) -> Iterator[Happening]:
    """
    Walk what happened, in the order of the rounds.
    """
    for record in records:
        began, name = record.get("began", ""), record.get("name", "")
        said = partial(Happening, began=str(began), round=str(name))
        outcome, why = _outcome(record)
        if outcome != "done":
            yield said(event=f"Round{outcome.capitalize()}", why=why)
        items = record.get("gangs", {})
        states = {row["name"]: row["state"] for row in items.get("items", ())}
        for (event, gang, why), pods in _operations(record, states):
            yield said(event=event, gang=gang, pods=pods, why=why)
        for gang in items.get("ended", ()):
            yield said(event="Ended", gang=gang)


def _outcome(record: Mapping[str, Any]) -> tuple[str, str]:
    """
    Give what came of a round, and why: ``skipped`` where none of it was tried.
    """
    outcome, why = str(record.get("outcome", "failed")), record.get("why")
    steps = [s for s in record.get("operations", ()) if s["op"] in _DONE]
    if outcome == "done" and steps and all(s["result"] == "skipped" for s in steps):
        return "skipped", str(steps[0].get("message", ""))
    return outcome, str(why or "")


def _operations(
    record: Mapping[str, Any], states: Mapping[str, str]
) -> Iterable[tuple[tuple[str, str, str], int]]:
    """
    Count pods by what became of them, whose they are, and why; those held before first.
    """
    found: dict[tuple[str, str, str], int] = {}
    for step in (*record.get("heldBinds", ()), *record.get("operations", ())):
        op, gang, result = step["op"], step["gang"], step["result"]
        if op not in _DONE or result == "skipped":
            continue
        if result == "held":
            key = "Begun", gang, str(step.get("message", ""))
        elif result != "done":
            key = _FAILED[op], gang, str(step.get("message", result))
        elif op == "Bind":
            state = str(step.get("state", states.get(gang, "")))
            key = _GREW.get(state, _DONE[op]), gang, ""
        else:
            key = _DONE[op], gang, _rule(step)
        found[key] = found.get(key, 0) + 1
    return found.items()


def _rule(step: Mapping[str, Any]) -> str:
    whom = ", ".join(step.get("for", ()))
    return f"{step.get('rule', '')}{f' for {whom}' if whom else ''}"
