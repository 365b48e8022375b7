"""
What a shell completes behind an option: the words that its help lists.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import typer
from typer.core import TyperGroup, TyperOption

from adapters.cli.app import app

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
    for each in _commands(command):
        for option in each.params:
            if isinstance(option, TyperOption) and (words := _words(option)):
                option._custom_shell_complete = _offering(words)  # noqa: SLF001
    command(args=[], prog_name=name)


def _commands(command: Any) -> Iterator[Any]:  # noqa: ANN401 - typer's own kind
    yield command
    if isinstance(command, TyperGroup):
        for inner in command.commands.values():
            yield from _commands(inner)


def _words(option: TyperOption) -> Sequence[str]:
    """
    Give the words that an option takes, where they can be listed.
    """
    if "--reason" in option.opts:
        from models.reasons import Reason

        return [reason.value for reason in Reason]
    if "--strategy" in option.opts and option.multiple:
        from adapters.replay.players import STRATEGIES

        return list(STRATEGIES)
    listed = option.metavar or ""
    return listed.split("|") if _LISTED.fullmatch(listed) else []


def _offering(words: Sequence[str]) -> Callable[[object, object, str], list[str]]:
    def offered(_context: object, _option: object, begun: str) -> list[str]:
        return [word for word in words if word.startswith(begun)]

    return offered
