"""
Errors as people read them: what, where, what to do, and an exit code.
"""


import click

from adapters.cli.output import note
from models.errors import InputRejectedError, PhalanxError, PlanRejectedError

FAILED = 1
WRONG_USE = 2
DIFFERS = 3
REJECTED = 4
INTERRUPTED = 130
_MOST_SHOWN = 100


def report(error: BaseException, command: str) -> int:
    """
    Say what went wrong in three parts on standard error; give the exit code.
    """
    match error:
        case click.exceptions.Exit():
            return error.exit_code
        case KeyboardInterrupt() | click.exceptions.Abort():
            note("interrupted; nothing was written")
            return INTERRUPTED
        case click.ClickException():
            return _wrong_use(error, command)
        case InputRejectedError():
            return _rejected(error)
        case PlanRejectedError():
            return _plan_rejected(error)
        case PhalanxError():
            return _say(str(error), f"phalanx {command}", "correct it and try again")
        case OSError():
            where = error.filename or f"phalanx {command}"
            return _say(error.strerror or str(error), str(where), "check the file")
        case MemoryError():
            what = "the machine has not enough memory"
            return _say(what, f"phalanx {command}", "use a smaller input")
    what = f"unexpected {type(error).__name__}: {_one_line(error)}"
    hint = "report it with --debug's output and `phalanx version -o json`"
    return _say(what, f"phalanx {command}", hint)


def _wrong_use(error: click.ClickException, command: str) -> int:
    context = getattr(error, "ctx", None)
    path = context.command_path if context else f"phalanx {command}".strip()
    _say(error.format_message(), path, f"see {path} --help")
    return WRONG_USE


def _rejected(error: InputRejectedError) -> int:
    note(f"error: {error}, so nothing was done")
    for problem in error.problems[:_MOST_SHOWN]:
        note(f"  {problem}")
    if len(error.problems) > _MOST_SHOWN:
        note(f"  … and {len(error.problems) - _MOST_SHOWN} more")
    note("do: correct the file; docs/reference/files.md lists every field")
    return REJECTED


def _plan_rejected(error: PlanRejectedError) -> int:
    note("error: the plan broke its own rules and was thrown away")
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
