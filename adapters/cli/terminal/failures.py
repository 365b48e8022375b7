"""
Errors as people read them: what, where, what to do, and an exit code.
"""

import re
from collections.abc import Sequence
from errno import EROFS
from pathlib import Path

import typer

from adapters.cli.main import INTERRUPTED
from adapters.cli.terminal.output import note
from adapters.kube.api.errors import (
    ClusterError,
    ManifestsRejectedError,
    SnapshotRefusedError,
)
from adapters.reports.page.extra import ExtraMissingError
from adapters.reports.replay.results import ResultsRejectedError, StudyRejectedError
from adapters.traces.row_faults import TraceRejectedError
from models.changes import ChangesRejectedError
from models.errors import (
    InputRejectedError,
    PhalanxError,
    PlanFileError,
    PlanRejectedError,
    WrongUseError,
)
from models.why.reasons import counted

FAILED = 1
WRONG_USE = 2
REJECTED = 4
UNREACHABLE = 5
_MOST_SHOWN = 100
_RESUMED = frozenset({"replay", "study"})
_GOES_ON = "the same command goes on from here"
_CORRECT = "correct the file; docs/reference/files.md lists every field"
_CORRECT_OBJECTS = (
    "correct the objects; docs/reference/dialects.md says what is read of them"
)
_OTHER_FOLDER = (
    "name the folder that `phalanx replay` or `phalanx run --observe` wrote; "
    "docs/reference/replay.md and docs/observing.md say what is in it"
)
_OTHER_STUDY = (
    "name the folder that `phalanx study policy` wrote; docs/reference/studies.md "
    "says what is in it"
)
_OTHER_PLAN = (
    "name a plan, as `phalanx plan FILE -o json` writes it; "
    "docs/reference/files.md#plans lists its fields"
)
_OTHER_TRACE = "docs/reference/traces.md lists the forms of traces and their columns"
_OTHER_CHANGE = "correct the change; docs/what-if.md shows each kind"
_OTHER_FILE = "name another file; `phalanx scenario new` prints one to begin with"


def report(error: BaseException, command: str) -> int:
    """
    Say what went wrong in three parts on standard error; give the exit code.
    """
    match error:
        case KeyboardInterrupt() | typer.Abort():
            goes_on = command in _RESUMED
            note(f"interrupted; {_GOES_ON if goes_on else 'nothing was written'}")
            code = INTERRUPTED
        case typer.Exit():
            code = error.exit_code
        case typer.TyperException():
            code = _wrong_use(error, command)
        case InputRejectedError():
            code = _rejected(error)
        case ClusterError():
            code = _unreachable(error)
        case ExtraMissingError():
            code = _say(str(error), f"phalanx {command}", error.todo)
        case PlanRejectedError():
            code = _plan_rejected(error)
        case _:
            code = _failed(error, f"phalanx {command}".strip())
    return code


_WRONG_PATHS = (
    FileExistsError,
    FileNotFoundError,
    IsADirectoryError,
    NotADirectoryError,
    PermissionError,
)
"""
Errors of a path that somebody named to be written to: what is read is asked for first.
"""


def _failed(error: BaseException, where: str) -> int:
    match error:
        case WrongUseError():
            _say(str(error), where, "correct it and try again")
            return WRONG_USE
        case PhalanxError():
            return _say(str(error), where, "correct it and try again")
        case OSError() if isinstance(error, _WRONG_PATHS) or error.errno == EROFS:
            what = error.strerror or str(error)
            _say(what, str(error.filename or where), "name another path")
            return WRONG_USE
        case OSError():
            what = error.strerror or str(error)
            return _say(what, str(error.filename or where), "check the file")
        case MemoryError():
            what = "the machine has not enough memory"
            return _say(what, where, "use a smaller input")
        case _:
            what = f"unexpected {type(error).__name__}: {_one_line(error)}"
            hint = "report it with what --debug adds and `phalanx version -o json`"
            return _say(what, where, hint)


def _wrong_use(error: typer.TyperException, command: str) -> int:
    context = getattr(error, "ctx", None)
    path = context.command_path if context else f"phalanx {command}".strip()
    message = error.format_message().replace("Value error, ", "")
    if message.startswith("Usage:"):
        for line in message.splitlines():
            note(line)
    else:
        hint = _file_hint(message, context) or f"see {path} --help"
        _say(message, path, hint)
    return WRONG_USE


def _file_hint(message: str, context: typer.Context | None) -> str:
    """
    Say how a file is named, to who gave it as one argument too many.
    """
    extra = re.fullmatch(r"Got unexpected extra argument\(s\) \((\S+)\)", message)
    options = [one for p in context.command.params for one in p.opts] if context else []
    if extra is None or "-f" not in options or not Path(extra[1]).is_file():
        return ""
    return f"look at the file with -f {extra[1]}"


def _unreachable(error: ClusterError) -> int:
    todo = error.todo
    if isinstance(error, SnapshotRefusedError):
        note(f"error: no snapshot: {counted(len(error.problems), 'problem')}")
        _list(error.told)
        note("in: the cluster")
        note(f"do: {todo}")
    else:
        _say(str(error), "the cluster", todo)
    return UNREACHABLE


def _rejected(error: InputRejectedError) -> int:
    note(f"error: {error}, so nothing was done")
    _list(error.problems)
    unread = all(problem.where == "file" for problem in error.problems)
    match error:
        case ManifestsRejectedError():
            todo = _CORRECT_OBJECTS
        case ResultsRejectedError():
            todo = _OTHER_FOLDER
        case StudyRejectedError():
            todo = _OTHER_STUDY
        case PlanFileError():
            todo = _OTHER_PLAN
        case TraceRejectedError():
            todo = _OTHER_TRACE
        case ChangesRejectedError():
            todo = _OTHER_CHANGE
        case _:
            todo = _OTHER_FILE if unread else _CORRECT
    note(f"do: {todo}")
    return REJECTED


def _list(problems: Sequence[object]) -> None:
    for problem in problems[:_MOST_SHOWN]:
        note(f"  {problem}")
    if len(problems) > _MOST_SHOWN:
        note(f"  … and {len(problems) - _MOST_SHOWN} more")


def _plan_rejected(error: PlanRejectedError) -> int:
    note("error: the plan broke its own rules and was discarded")
    for violation in error.violations[:_MOST_SHOWN]:
        note(f"  {violation}")
    note("do: report it with the input file; --strategy greedy may serve meanwhile")
    return FAILED


def _say(what: str, where: str, todo: str) -> int:
    note(f"error: {what}")
    note(f"in: {where}")
    note(f"do: {todo}")
    return FAILED


def _one_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else "no message"


def show_traceback(error: BaseException) -> None:
    """
    Print what --debug asks for.
    """
    import traceback

    traceback.print_exception(error)
