"""
``phalanx config``: the policy in effect and where each value comes from.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Final

import typer

from adapters.cli.options import run_options as options
from adapters.cli.options.common import RowsOutput, Seconds, Seed, Workers, only
from adapters.cli.terminal.output import Format, Table, as_text, emit, say

if TYPE_CHECKING:
    from adapters.kube.acting.permissions import Permission
    from adapters.service.run_settings import ConfigFile, Running
    from adapters.service.settings import Settings
    from models.policy import Policy

_ROLE_HEAD: Final = """\
# Written by `phalanx config role`: all that `phalanx run` asks for, and nothing else.
# Rules for kinds that a cluster does not have do no harm, and are not needed there.
"""

app = typer.Typer(
    help="Show the settings in effect, and the rules that `phalanx run` needs.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def group() -> None:
    """
    Show the settings in effect, and the rules that `phalanx run` needs.
    """


@app.command("show")
@options.takes_run_options
def show(
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="A file with a policy, or of settings."),
    ] = None,
    *,
    output: RowsOutput = Format.TABLE,
    said: Mapping[str, object],
    seconds: Seconds = None,
    seed: Seed = None,
    workers: Workers = None,
) -> None:
    """
    Print every value of the policy, and of `phalanx run`, with its origin.

    The origin is default, file, env or flag; it takes the flags of `phalanx run`.
    """
    only(output, Format.TABLE, Format.JSON, Format.YAML, Format.CSV)
    from adapters.service.run_settings import policy_of_run, running
    from adapters.service.settings import effective

    flags = {"seconds": seconds, "seed": seed, "workers": workers}
    policy, config = _read(file)
    settings = (effective if config is None else policy_of_run)(policy, flags)
    scheduler = running(config, said, flags)
    if output in {Format.JSON, Format.YAML}:
        emit(as_text(_document(settings, scheduler), output))
        return
    rows = [*settings.rows(), *scheduler.rows()]
    table = Table(("SETTING", "VALUE", "ORIGIN"), rows)
    if output is Format.CSV:
        emit(table.csv())
    else:
        say(*table.lines())


def _document(settings: "Settings", scheduler: "Running") -> dict[str, object]:
    """
    Give every value, and the origin of each by its path.
    """
    of_run = {f"run.{name}": where for name, where in scheduler.origins.items()}
    return {
        "apiVersion": "phalanx/v1",
        "kind": "Config",
        "policy": settings.policy.model_dump(by_alias=True, mode="json"),
        "run": scheduler.run.model_dump(by_alias=True, mode="json"),
        "origins": {
            **dict(sorted(settings.origins.items())),
            **dict(sorted(of_run.items())),
        },
    }


@app.command("role")
def role(
    *,
    name: Annotated[
        str, typer.Option(metavar="NAME", help="The name of both roles.")
    ] = "phalanx",
    namespace: Annotated[
        str,
        typer.Option(
            "--namespace",
            "-n",
            metavar="NAME",
            help="The namespace in which `run` keeps its state.",
        ),
    ] = "phalanx-system",
    shard: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The shard of `run`."),
    ] = None,
    observe: Annotated[
        bool,
        typer.Option("--observe", help="Print what `run --observe` needs: to read."),
    ] = False,
    output: Annotated[
        Format, typer.Option("-o", "--output", metavar="yaml|json", help="The format.")
    ] = Format.YAML,
) -> None:
    """
    Print the ClusterRole and the Role that `phalanx run` needs, as manifests.
    """
    only(output, Format.YAML, Format.JSON)
    from adapters.files.writing.yaml_writer import yaml_text
    from adapters.kube.acting.role import roles

    both = roles(_permissions(shard, observe=observe), name, namespace)
    if output is Format.JSON:
        emit(as_text({"apiVersion": "v1", "kind": "List", "items": both}, output))
        return
    emit((_ROLE_HEAD + "---\n".join(map(yaml_text, both))).rstrip())


def _permissions(shard: str | None, *, observe: bool) -> "list[Permission]":
    from adapters.kube.acting.permissions import needed, to_observe
    from adapters.kube.dialects.registry import dialects
    from adapters.kube.gangs.kinds import resources_of
    from adapters.service.run_settings import OBSERVING, running

    if shard is not None:
        shard = running(None, {"shard": shard}, {}).run.shard
    kinds = resources_of(dialects())
    if observe:
        return to_observe(kinds, shard or OBSERVING)
    return needed(kinds, shard or "default")


def _read(path: str | None) -> "tuple[Policy, ConfigFile | None]":
    """
    Read the policy of a file, and the settings where it is a file of those.
    """
    from adapters.files import read_scenario
    from adapters.service.run_settings import config_of, is_config, read_config
    from models.policy import Policy

    if path is None:
        config = config_of(None)
        return (Policy() if config is None else config.policy), config
    if is_config(path):
        config = read_config(path)
        return config.policy, config
    return read_scenario(path).policy, None
