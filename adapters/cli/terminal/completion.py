"""
What a shell completes: the words that an option's help lists, and names.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import typer
from typer.core import TyperArgument, TyperGroup, TyperOption

from adapters.cli.app import app
from adapters.cli.terminal.completed_names import (
    KINDS,
    PLURALS,
    Offer,
    offering_names,
    offering_words,
)

VARIABLE = "_PHALANX_COMPLETE"
"""
Set by the script of the shell; its value says which shell asks.
"""
_LISTED = re.compile(r"[a-z][\w-]*(?:\|[a-z][\w-]*)*")


def complete(name: str) -> None:
    """
    Answer the shell, and end.
    """
    command = typer.main.get_command(app)
    for kind, each in _commands(command, ""):
        for option in each.params:
            if isinstance(option, TyperOption) and (words := _words(option)):
                option._custom_shell_complete = _offering(words)  # noqa: SLF001
            elif isinstance(option, TyperArgument) and (names := _names(option, kind)):
                option._custom_shell_complete = names  # noqa: SLF001
    command(args=[], prog_name=name)


def _commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - typer's own kind
    """
    Walk the commands with the name of each.
    """
    yield name, command
    if isinstance(command, TyperGroup):
        for inner, each in command.commands.items():
            yield from _commands(each, inner)


def _names(argument: TyperArgument, command: str) -> Offer | None:
    """
    Give what names an argument takes: of what its command or its first word says.
    """
    if argument.name == "name":
        kind = PLURALS.get(command, command)
        return offering_names(kind) if kind in KINDS else None
    return offering_words(("gang",)) if command == "why" else None


def _words(option: TyperOption) -> Callable[[], Sequence[str]] | None:
    """
    Say how to list the words that an option takes, where they can be listed.
    """
    if "--reason" in option.opts:
        return _reasons
    if "--strategy" in option.opts and option.multiple:
        return _strategies
    listed = option.metavar or ""
    return partial(listed.split, "|") if _LISTED.fullmatch(listed) else None


def _reasons() -> Sequence[str]:
    from models.why.reasons import Reason

    return [reason.value for reason in Reason]


def _strategies() -> Sequence[str]:
    from adapters.replay.players import STRATEGIES

    return list(STRATEGIES)


def _offering(
    words: Callable[[], Sequence[str]],
) -> Callable[[object, object, str], list[str]]:
    def offered(_context: object, _option: object, begun: str) -> list[str]:
        return [word for word in words() if word.startswith(begun)]

    return offered
