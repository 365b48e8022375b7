"""
A reporter that writes structured lines: one for each round, one for each failure.
"""

import json
import logging
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from adapters.loop.interfaces import Turn
from models.devices.gpu_counts import in_gpus, shares_asked
from models.errors import PhalanxError, PlanRejectedError, escaped
from models.gangs import Gang, pod_sets
from models.memory.aged_gangs import by_name
from models.plan import Operation
from models.snapshot import Snapshot

_MOST_WARNINGS = 50
_LONGEST = 4_096
_log = logging.getLogger(__name__)
_MOST_NAMED = 10
_LEFT = frozenset({"Evict", "Move"})


class LogReporter:
    """
    Says in the log what a loop does, and once what was not read or not obeyed.
    """

    def __init__(self) -> None:
        self._warned: frozenset[str] = frozenset()
        self._held_blindly = False

    def ticked(self) -> None:
        """
        Say nothing.
        """

    def leading(self, *, is_leader: bool) -> None:
        """
        Say who leads.
        """
        _say("leadership_gained" if is_leader else "leadership_lost")

    def refused(self, error: PhalanxError) -> None:
        """
        Say why there was no snapshot.
        """
        _say("snapshot_refused", logging.WARNING, error=str(error))

    def skipped(self) -> None:
        """
        Say nothing.
        """

    def planned(self, turn: Turn) -> None:
        """
        Say what was planned.
        """
        warnings = frozenset(turn.snapshot.warnings)
        for warning in sorted(warnings - self._warned)[:_MOST_WARNINGS]:
            _say("snapshot_warning", logging.WARNING, round=turn.name, warning=warning)
        self._warned = warnings
        blind = bool(turn.plan.held) and not any(
            gang.max_runtime for gang in turn.snapshot.gangs
        )
        if blind and not self._held_blindly:
            _say("held_without_run_times", round=turn.name, gpus=turn.plan.held)
        self._held_blindly = blind
        operations = Counter(step.op for step in turn.plan.operations)
        waiting = Counter(
            str(line.waiting.reason)
            for line in turn.plan.gangs
            if line.waiting is not None
        )
        _say(
            "round_planned",
            round=turn.name,
            status=turn.plan.status,
            gangs=len(turn.snapshot.gangs),
            nodes=len(turn.snapshot.nodes),
            operations=dict(operations),
            waiting=dict(sorted(waiting.items())),
            seconds={k: round(v, 3) for k, v in turn.seconds.items()},
        )

    def rejected(
        self, snapshot: Snapshot, error: PlanRejectedError, bundle: Path | None
    ) -> None:
        """
        Say which rules a plan broke.
        """
        _say(
            "plan_rejected",
            logging.ERROR,
            gangs=len(snapshot.gangs),
            violations=error.violations[:10],
            bundle=str(bundle),
        )

    def fell_back(self, turn: Turn, bundle: Path | None) -> None:
        """
        Say what each way broke that was tried before the one that held.
        """
        fallback = turn.plan.fallback
        if fallback is None:
            return
        for one in fallback.failed:
            _say(
                "round_fell_back",
                logging.ERROR,
                round=turn.name,
                way=fallback.way,
                failed=one.way,
                violations=one.violations[:10],
                error=one.error,
                bundle=str(bundle),
            )

    def dropped(self, turn: Turn, why: str) -> None:
        """
        Say why a plan was not carried out.
        """
        _say("plan_dropped", round=turn.name, why=why)

    def carried_out(self, turn: Turn) -> None:
        """
        Say what was done, and each thing that was not.
        """
        gangs = by_name(turn.snapshot.gangs)
        for receipt in turn.receipts:
            if receipt.operation.op in _LEFT and receipt.result == "done":
                _left(turn, receipt.operation, gangs.get(receipt.operation.gang))
            if receipt.result in {"again", "refused"}:
                step = receipt.operation
                fields: dict[str, object] = {
                    "round": turn.name,
                    "op": step.op,
                    "pod": step.pod,
                    "gang": step.gang,
                    "node": step.node,
                    **_why(step),
                    "result": receipt.result,
                    "message": receipt.message,
                }
                _log.warning("operation_failed", extra={"fields": fields})
        _say(
            "round_finished",
            round=turn.name,
            results=dict(Counter(r.result for r in turn.receipts)),
            seconds={k: round(v, 3) for k, v in turn.seconds.items()},
        )

    def failed(self, error: Exception) -> None:
        """
        Say what nobody expected.
        """
        _log.error(
            "round_failed",
            extra={"fields": {"error": f"{type(error).__name__}: {error}"}},
            exc_info=error,
        )


def _left(turn: Turn, step: Operation, gang: Gang | None) -> None:
    """
    Say which pod was evicted or moved, for whom, by which rule, and what it loses.
    """
    seconds, shares = _lost(gang, step.pod)
    fields: dict[str, object] = {
        "round": turn.name,
        "pod": step.pod,
        "gang": step.gang,
        "node": step.source or step.node,
    }
    moved = step.op == "Move"
    if moved:
        fields["to"] = step.node
    fields |= {
        **_why(step),
        "seconds_lost": seconds,
        "gpus": in_gpus(shares),
        "gpu_seconds_lost": in_gpus(seconds * shares),
    }
    _log.info("pod_moved" if moved else "pod_evicted", extra={"fields": fields})


def _why(step: Operation) -> dict[str, object]:
    """
    Say by which rule a pod leaves, and for whom.
    """
    if step.op not in _LEFT:
        return {}
    named = list(step.beneficiaries[:_MOST_NAMED])
    more = len(step.beneficiaries) - _MOST_NAMED
    if more > 0:
        named.append(f"and {more:,} more")
    return {"rule": step.rule, "for": named}


def _lost(gang: Gang | None, name: str) -> tuple[int, int]:
    """
    Give how long a pod has run, and on how many GPUs, in 1/7000.
    """
    own = name.rpartition("/")[2]
    for leaf in () if gang is None else pod_sets(gang.tree):
        for pod in leaf.pods:
            if pod.name == own:
                return pod.seconds, shares_asked(leaf.requests)
    return 0, 0


class JsonLines(logging.Formatter):
    """
    One JSON object a line: time, level, event, and the fields of the event.
    """

    def format(self, record: logging.LogRecord) -> str:
        """
        Write a record.
        """
        moment = datetime.fromtimestamp(record.created, UTC)
        line: dict[str, object] = {
            "time": moment.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


class TextLines(logging.Formatter):
    """
    One line for eyes: time, level, event, and the fields as ``name=value``.
    """

    def format(self, record: logging.LogRecord) -> str:
        """
        Write a record.
        """
        moment = datetime.fromtimestamp(record.created, UTC)
        fields = " ".join(
            f"{name}={_worded(value)}" for name, value in _fields(record).items()
        )
        head = f"{moment:%H:%M:%S} {record.levelname.lower():<7} {record.getMessage()}"
        line = f"{head} {fields}".rstrip()
        if record.exc_info:
            trace = self.formatException(record.exc_info).split("\n")
            line = "\n".join((line, *map(escaped, trace)))
        return line


def _fields(record: logging.LogRecord) -> dict[str, object]:
    """
    Give the fields of a record; of a text without end its beginning.
    """
    return {key: _brief(one) for key, one in getattr(record, "fields", {}).items()}


def _brief(value: object) -> object:
    if isinstance(value, list | tuple):
        return [_brief(each) for each in value]
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"{value[:_LONGEST]}…"
    return value


def _worded(value: object) -> str:
    if isinstance(value, str):
        plain = value.isprintable() and value and not set(value) & set(' ="')
        return value if plain else json.dumps(value)
    return json.dumps(value, default=str)


def log_lines(form: str = "json") -> None:
    """
    Write the log of this process on standard error: JSON lines, or text.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(TextLines() if form == "text" else JsonLines())
    root = logging.getLogger("adapters")
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)


def _say(event: str, level: int = logging.INFO, **fields: object) -> None:
    _log.log(level, event, extra={"fields": fields})
