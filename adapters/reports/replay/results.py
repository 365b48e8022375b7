"""
The folder of a replay, read back: what it says is judged once, here.

Unknown fields are left alone, since a folder may be newer than this report. What is
no number becomes nothing; a table that is missing is named on the page.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from models.errors import InputRejectedError, Problem, printable

KIND = "Replay"
LARGEST_FILE = 64 * 2**20
_MOST_PROBLEMS = 20

Name = Annotated[str, AfterValidator(printable)]
Number = float | None


class ResultsRejectedError(InputRejectedError):
    """
    A folder does not hold the results of a replay, or holds them damaged.
    """


class StudyRejectedError(InputRejectedError):
    """
    A folder does not hold what `study policy` wrote, or holds it damaged.
    """


class _ResultRecord(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


_Kind = TypeVar("_Kind", bound=BaseModel)


class TraceFacts(_ResultRecord):
    """
    What was played.
    """

    name: Name
    form: Name = ""
    sha256: Name = ""
    jobs: int = 0
    gpu_hours: Number = Field(None, alias="gpuHours")
    span: Number = None
    begins: Name | None = None
    composite: tuple[Name, ...] = ()
    notes: tuple[Name, ...] = ()
    repaired: dict[Name, Number] = {}
    left_out: dict[Name, Number] = Field(default={}, alias="leftOut")


class NodeModel(_ResultRecord):
    """
    Equal nodes of the cluster.
    """

    nodes: int
    gpus: float


class QueueLine(_ResultRecord):
    """
    One queue of the cluster.
    """

    name: Name
    quota: Number = None
    limit: Number = None


class Cluster(_ResultRecord):
    """
    What it was played on.
    """

    name: Name = ""
    nodes: int = 0
    gpus: float = 0
    load: Number = None
    classes: tuple[NodeModel, ...] = ()
    by_name: tuple[NodeModel, ...] = Field(default=(), alias="byName")
    queues: tuple[QueueLine, ...] = ()
    notes: tuple[Name, ...] = ()


class ReplaySettings(_ResultRecord):
    """
    How it was played; ``until`` is a word, or the last second that was.
    """

    every: Number = None
    estimates: Name = ""
    evictions: bool = False
    bucket: Number = None
    block: Number = None
    until: Number | Name = ""
    policy: dict[str, Any] = {}


class PlayedRun(_ResultRecord):
    """
    One strategy with one seed.
    """

    strategy: Name
    seed: int = 0
    folder: str
    metrics: dict[str, Any] = {}

    def get(self, path: str) -> float | None:
        """
        Give a metric by its name in the reference: ``wait.mean``.
        """
        found = self.find(path)
        return float(found) if isinstance(found, int | float) else None

    def find(self, path: str) -> Any:  # noqa: ANN401 - plain values
        """
        Give whatever a metric's name leads to; in lists it names sizes of gangs.
        """
        if path in self.metrics:
            return self.metrics[path]
        at: Any = self.metrics
        for part in path.split("."):
            at = _inside(at, part)
        return at


def _inside(at: Any, name: str) -> Any:  # noqa: ANN401 - plain values
    if isinstance(at, list):
        sizes = (row for row in at if isinstance(row, Mapping))
        return next((row for row in sizes if row.get("size") == name), None)
    return at.get(name) if isinstance(at, Mapping) else None


class Interval(_ResultRecord):
    """
    A mean with its 95 % interval, where there are enough pairs for one.
    """

    mean: Number = None
    low: Number = None
    high: Number = None


class Paired(_ResultRecord):
    """
    One measure of one strategy beside the baseline's.
    """

    metric: Name
    label: Name = ""
    unit: Name = ""
    better: Name = "lower"
    strategy: Name
    baseline: Number = None
    value: Number = None
    difference: Interval = Interval()
    relative: Interval = Interval()
    pairs: int = 0
    bound: Number = None
    comparable: bool = True


class LargestRounds(_ResultRecord):
    """
    One job whose waits differ much.
    """

    strategy: Name
    job: Name
    queue: Name = ""
    gpus: Number = None
    baseline_wait: Number = Field(None, alias="baselineWait")
    wait: Number = None
    baseline_reason: Name | None = Field(None, alias="baselineReason")
    reason: Name | None = None


class Results(_ResultRecord):
    """
    All that ``results.json`` says.
    """

    kind: Name
    regime: Name = ""
    trace: TraceFacts
    cluster: Cluster = Cluster()
    settings: ReplaySettings = ReplaySettings()
    versions: dict[Name, Name | None] = {}
    seeds: tuple[int, ...] = ()
    strategies: tuple[Name, ...]
    baseline: Name | None = None
    runs: tuple[PlayedRun, ...]
    bounds: tuple[dict[str, Any], ...] = ()
    paired: tuple[Paired, ...] = ()
    largest: tuple[LargestRounds, ...] = ()
    not_modelled: tuple[Name, ...] = Field(default=(), alias="notModelled")


class BySize(_ResultRecord):
    """
    Decision times of the rounds that were shown so many gangs.
    """

    shown: Name
    rounds: int = 0
    median: Number = None
    p99: Number = None


class TimedRun(_ResultRecord):
    """
    Decision times of one run.
    """

    strategy: Name
    seed: int = 0
    seconds: dict[str, Number] = {}
    by_size: tuple[BySize, ...] = Field(default=(), alias="bySize")


class Timings(_ResultRecord):
    """
    All that ``timings.json`` says.
    """

    runs: tuple[TimedRun, ...] = ()


@dataclass(frozen=True, slots=True)
class Folder:
    """
    A replay's folder: what was read, as records and as it was written.
    """

    path: Path
    results: Results
    document: dict[str, Any]
    timings: Timings
    timings_document: dict[str, Any]

    def run(self, strategy: str) -> PlayedRun | None:
        """
        Give the first run of a strategy, the one that is drawn.
        """
        runs = [run for run in self.results.runs if run.strategy == strategy]
        return min(runs, key=lambda run: run.seed, default=None)

    def runs(self, strategy: str) -> list[PlayedRun]:
        """
        Give all runs of a strategy.
        """
        return [run for run in self.results.runs if run.strategy == strategy]

    def file(self, run: PlayedRun, name: str) -> Path:
        """
        Say where a table of a run lies; ``load`` has judged the run's folder.
        """
        return self.path / run.folder / name


def load(path: str) -> Folder:
    """
    Read the results of a replay, or raise what is wrong with them.
    """
    folder = Path(path)
    if not folder.is_dir():
        what = "is a file, not a folder" if folder.exists() else "there is no folder"
        raise _rejected(path, what)
    document = _document(folder / "results.json", needed=True)
    kind = document.get("kind")
    if kind != KIND:
        raise _rejected(
            str(folder / "results.json"),
            f"kind is {kind!r}, and a report is made of {KIND!r}",
        )
    results = _as(Results, document, folder / "results.json")
    _judge(results, folder)
    timings = _document(folder / "timings.json", needed=False)
    return Folder(
        path=folder,
        results=results,
        document=document,
        timings=_as(Timings, timings, folder / "timings.json"),
        timings_document=timings,
    )


def _judge(results: Results, folder: Path) -> None:
    """
    Refuse names that lead out of the folder, and strategies that nobody played.
    """
    problems = []
    inside = folder.resolve()
    for at, run in enumerate(results.runs):
        target = (inside / run.folder).resolve() if "\0" not in run.folder else None
        if target is None or not target.is_relative_to(inside):
            what = f"{run.folder!r} is outside of the folder"
            problems.append(Problem(f"runs[{at}].folder", what))
    played = {run.strategy for run in results.runs}
    problems += [
        Problem("strategies", f"{name!r} has no run")
        for name in results.strategies
        if name not in played
    ]
    if not results.strategies:
        problems.append(Problem("strategies", "nothing was played"))
    if problems:
        shown = problems[:_MOST_PROBLEMS]
        raise ResultsRejectedError(str(folder / "results.json"), shown)


def plain_values(path: Path) -> dict[str, Any]:
    """
    Read a file of plain values that must be there.
    """
    return _document(path, needed=True)


def _document(path: Path, *, needed: bool) -> dict[str, Any]:
    if not path.is_file():
        if not needed:
            return {}
        unfinished = any(path.parent.glob("runs/*/*/checkpoint.json"))
        todo = (
            "the replay is not finished: run it again with the same options, and it "
            "goes on"
            if unfinished
            else ""
        )
        raise _rejected(str(path), "there is no such file", todo)
    if path.stat().st_size > LARGEST_FILE:
        limit = f"{LARGEST_FILE // 2**20} MiB"
        raise _rejected(str(path), f"is larger than {limit}", "it holds sums only")
    try:
        # A NaN is no JSON, yet some write it.
        found = json.loads(path.read_bytes(), parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        todo = "the file is damaged: run the replay again"
        raise _rejected(str(path), f"is not JSON: {error}", todo) from None
    if not isinstance(found, dict):
        raise _rejected(str(path), "is not an object")
    cleaned: dict[str, Any] = _finite(found)
    return cleaned


def _finite(value: Any) -> Any:  # noqa: ANN401 - plain values
    """
    Leave out what is not a number, and write texts that any file can hold.
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, list):
        return [_finite(each) for each in value]
    if isinstance(value, dict):
        return {_finite(key): _finite(each) for key, each in value.items()}
    return value


def _as(kind: type[_Kind], document: dict[str, Any], path: Path) -> _Kind:
    try:
        return kind.model_validate(document)
    except ValidationError as error:
        problems = [
            Problem(".".join(map(str, each["loc"])) or "file", each["msg"])
            for each in error.errors()[:_MOST_PROBLEMS]
        ]
        raise ResultsRejectedError(str(path), problems) from None


def _rejected(source: str, what: str, todo: str = "") -> ResultsRejectedError:
    return ResultsRejectedError(source, [Problem("file", what, todo)])
