"""
Plan files, ours and others', to plans; keys we do not know are passed over.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from adapters.files.bulk import MOST_FAULTS, Bulk, and_more
from adapters.files.checking.problems import Fault, located, schema_faults
from adapters.files.checking.sizes import MOST_GANGS
from adapters.files.text import looks_like_json, parse_text, read_text
from models.devices.gpu_parts import DeviceAmounts, GpuDevice
from models.errors import InputRejectedError, PlanFileError, Problem
from models.gangs import MOST_PODS
from models.plan import (
    FailedTry,
    Fallback,
    GangLine,
    Hold,
    ModelSize,
    Operation,
    Plan,
    PodCounts,
    TierResult,
)
from models.resources import SHARES_PER_GPU
from models.why.reasons import Reason, Waiting

Number = Annotated[int, Field(ge=0, le=2**63 - 1)]
PodName = Annotated[str, Field(pattern=r"^[^/\s]+/[^/\s]+$", max_length=700)]


class PlanPart(BaseModel):
    """
    Strict about what is known, tolerant of what is not.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class TierPart(PlanPart):
    """
    One tier's value and bound.
    """

    name: str
    band: int | None = None
    direction: Literal["max", "min"] = "max"
    value: int | float
    bound: int | float
    proof: Literal["proven", "conditional", "gap"] = "gap"


class PodsPart(PlanPart):
    """
    How many pods a gang has.
    """

    total: Number = 0
    min: Number = 0
    running: Number = 0
    succeeded: Number = 0
    failed: Number = 0
    binding: Number = 0
    evicting: Number = 0


class GangPart(PlanPart):
    """
    What a plan says about one gang.
    """

    name: PodName
    queue: str = "default"
    state: Literal[
        "Evicting", "Starting", "Growing", "Reserved", "Waiting", "Finished", "Running"
    ]
    entitled: bool = False
    guaranteed: bool = False
    reason: str | None = None
    facts: dict[str, str | int] = {}
    pods: PodsPart = PodsPart()


class DevicePart(PlanPart):
    """
    A GPU of which a pod gets a part, how much, and where an instance begins.
    """

    device: Annotated[int, Field(ge=0, le=2**31)]
    cores: Annotated[int, Field(ge=0, le=1000)] | None = None
    memory: Annotated[int, Field(ge=0, le=2**31)] | None = None
    mig: str | None = None
    start: Annotated[int, Field(ge=-1, le=2**31)] = -1


class HoldPart(PlanPart):
    """
    Nodes held for a gang that waits.
    """

    gang: PodName
    nodes: list[str] = []
    expected: Number = 0
    lent: list[PodName] = []


class OperationPart(PlanPart):
    """
    One step; a move says from and to, every other step says node.
    """

    op: Literal["Bind", "Evict", "Move", "Reserve"]
    pod: PodName
    gang: PodName
    uid: str | None = None
    node: str | None = None
    source: str | None = Field(None, alias="from")
    target: str | None = Field(None, alias="to")
    beneficiaries: list[str] = Field([], alias="for")
    rule: str | None = None
    devices: list[DevicePart] = []


class ModelPart(PlanPart):
    """
    How large the model was.
    """

    variables: Number = 0
    constraints: Number = 0
    node_classes: Number = Field(0, alias="nodeClasses")
    pod_shapes: Number = Field(0, alias="podShapes")
    gang_types: Number = Field(0, alias="gangTypes")


class FailedPart(PlanPart):
    """
    A way of planning that gave nothing.
    """

    way: Literal["as-asked", "without-evictions", "greedy"]
    violations: list[str] = []
    error: str | None = None


class FallbackPart(PlanPart):
    """
    In which way a round was planned after others failed.
    """

    way: Literal["as-asked", "without-evictions", "greedy"]
    failed: list[FailedPart] = []


class PlanFile(PlanPart):
    """
    A whole plan file.
    """

    api_version: Literal["phalanx/v1"] = Field(alias="apiVersion")
    kind: Literal["Plan"]
    strategy: str = "unknown"
    status: Literal["optimal", "feasible", "idle"] = "feasible"
    deterministic: bool = False
    snapshot: str = ""
    seed: int = 0
    versions: dict[str, str] = {}
    tiers: list[TierPart] = []
    gangs: list[GangPart] = []
    operations: list[OperationPart]
    model: ModelPart = ModelPart()
    seconds: dict[str, float] | None = None
    fallback: FallbackPart | None = None
    cut: list[str] = []
    held: int = 0
    holds: list[HoldPart] = []


_BULK = Bulk(
    root=PlanFile,
    place=(),
    records={
        "tiers": (TierPart, 1000),
        "gangs": (GangPart, MOST_GANGS),
        "operations": (OperationPart, 2 * MOST_PODS),
    },
)


def read_plan(path: str) -> Plan:
    """
    Read a plan file, whoever made it.
    """
    try:
        return _read(path)
    except InputRejectedError as error:
        raise PlanFileError(error.source, error.problems) from error


def _read(path: str) -> Plan:
    name, text = read_text(path)
    document = parse_text(name, text)
    if not isinstance(document, dict):
        problem = Problem("file", "is not a plan", "a plan says kind: Plan")
        raise InputRejectedError(name, [problem])
    faults = _BULK.faults(document)
    file = None if faults else _judged(document, faults)
    if file is None:
        yaml = not looks_like_json(name, text)
        raise InputRejectedError(name, located(faults, text, yaml=yaml))
    problems = _operation_problems(file)
    if problems:
        raise InputRejectedError(name, problems)
    return _plan(file)


def _judged(document: dict[str, Any], faults: list[Fault]) -> PlanFile | None:
    read = _BULK.read(document, faults)
    if len(faults) > MOST_FAULTS:
        faults[:] = and_more(faults)
        return None
    try:
        file = PlanFile.model_validate(read)
    except ValidationError as error:
        faults += schema_faults(error, document, PlanFile)
        return None
    return None if faults else file


def _operation_problems(file: PlanFile) -> list[Problem]:
    problems: list[Problem] = []
    for index, part in enumerate(file.operations):
        moved = part.op == "Move"
        needed = {"from": part.source, "to": part.target} if moved else {}
        needed = needed or {"node": part.node}
        problems.extend(
            Problem(f"operations[{index}].{word}", f"a {part.op} needs {word!r}")
            for word, said in needed.items()
            if not said
        )
    return problems


def _plan(file: PlanFile) -> Plan:
    size = file.model
    return Plan(
        strategy=file.strategy,
        status=file.status,
        deterministic=file.deterministic,
        snapshot=file.snapshot,
        seed=file.seed,
        versions=file.versions,
        tiers=tuple(map(_tier, file.tiers)),
        gangs=tuple(map(_gang, file.gangs)),
        operations=tuple(map(_operation, file.operations)),
        model=ModelSize(**size.model_dump()),
        seconds=file.seconds,
        fallback=_fallback(file.fallback),
        cut=tuple(file.cut),
        held=file.held,
        holds=tuple(
            Hold(
                gang=part.gang,
                nodes=tuple(part.nodes),
                expected=part.expected,
                lent=tuple(part.lent),
            )
            for part in file.holds
        ),
    )


def _fallback(part: FallbackPart | None) -> Fallback | None:
    if part is None:
        return None
    failed = (
        FailedTry(way=one.way, violations=tuple(one.violations), error=one.error)
        for one in part.failed
    )
    return Fallback(way=part.way, failed=tuple(failed))


def _gang(part: GangPart) -> GangLine:
    reasons = {reason.value: reason for reason in Reason}
    reason = reasons.get(part.reason or "")
    waiting = Waiting(reason, part.facts) if reason else None
    return GangLine(
        name=part.name,
        queue=part.queue,
        state=part.state,
        entitled=part.entitled,
        guaranteed=part.guaranteed,
        waiting=waiting,
        pods=PodCounts(minimum=part.pods.min, **part.pods.model_dump(exclude={"min"})),
    )


def _tier(part: TierPart) -> TierResult:
    """
    Read a tier; of GPUs that are no whole number the pieces that parts count in.
    """
    fields = part.model_dump()
    if isinstance(part.value, int) and isinstance(part.bound, int):
        return TierResult(**fields)
    pieces = {word: round(fields[word] * SHARES_PER_GPU) for word in ("value", "bound")}
    return TierResult(**fields | pieces, pieces=SHARES_PER_GPU)


def _operation(part: OperationPart) -> Operation:
    return Operation(
        op=part.op,
        pod=part.pod,
        gang=part.gang,
        node=(part.target if part.op == "Move" else part.node) or "",
        uid=part.uid,
        source=part.source,
        beneficiaries=tuple(part.beneficiaries),
        rule=part.rule,
        devices=tuple(GpuDevice(one.device, one.start) for one in part.devices),
        of_each=_of_each(part.devices),
    )


def _of_each(devices: Sequence[DevicePart]) -> DeviceAmounts | None:
    """
    Give what a pod gets of each of its GPUs, the most that is said of any.
    """
    found = [
        DeviceAmounts(one.cores or 0, one.memory or 0, one.mig or "")
        for one in devices
        if (one.cores, one.memory, one.mig) != (None, None, None)
    ]
    return max(found, key=_amounts_order, default=None)


def _amounts_order(amounts: DeviceAmounts) -> tuple[str, int, int]:
    return amounts.profile, amounts.cores, amounts.memory
