"""
``phalanx hold``, ``release``, ``pause`` and ``resume``: what people keep from starting.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from time import sleep, time
from typing import TYPE_CHECKING, Annotated

import typer

from adapters.cli.options.common import SchedulerNames
from adapters.cli.options.list_options import GangNamespace
from adapters.cli.terminal.output import say
from adapters.cli.views.listed_source import (
    Context,
    Kubeconfig,
    Where,
    full_name,
    the_one,
    where_of,
)

if TYPE_CHECKING:
    from adapters.kube.acting.holding import Carrier
    from adapters.kube.api.client import Transport
    from adapters.service.following import Followed

holding = typer.Typer(
    help="Put a gang on hold: no more of its pods start; running ones go on.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
releasing = typer.Typer(
    help="Let a gang that is held be planned again.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Name = Annotated[str, typer.Argument(metavar="NAME", help="The gang.")]
Why = Annotated[
    str,
    typer.Option(
        "--reason", metavar="TEXT", help="The reason to show to those who wait."
    ),
]
RunsIn = Annotated[
    str | None,
    typer.Option(
        "-n", "--namespace", metavar="NAME", help="The namespace of the scheduler."
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Only name the objects that would change.")
]


@holding.command("gang")
def hold(
    name: Name,
    *,
    namespace: GangNamespace = None,
    reason: Why = "",
    dry_run: DryRun = False,
    scheduler_name: SchedulerNames = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
) -> None:
    """
    Hold a gang: none of its pods that wait gets a node until it is released.

    NAME is namespace/name, or a name that only one gang has.  Who is held already
    stays held as it is, unless there is a new reason.
    """
    from adapters.kube.acting.holding import put, stood
    from adapters.kube.gangs.holds import HELD

    where = where_of(None, scheduler_name, kubeconfig, context)
    with _gang(full_name(name, namespace), where) as (here, key, carriers):
        if not dry_run:
            put(here.transport, carriers, HELD, reason, time())
    before = stood(carriers, HELD, reason)
    if before is None:
        _told(key, "is held", "stands", carriers, dry_run=dry_run)
    else:
        say(f"gang {key} is held already{before}")


@releasing.command("gang")
def release(
    name: Name,
    *,
    namespace: GangNamespace = None,
    dry_run: DryRun = False,
    scheduler_name: SchedulerNames = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
) -> None:
    """
    Release a gang that is held; one that is not stays as it is.

    NAME is namespace/name, or a name that only one gang has.
    """
    from adapters.kube.acting.holding import take_away
    from adapters.kube.gangs.holds import HELD, HOLD

    where = where_of(None, scheduler_name, kubeconfig, context)
    with _gang(full_name(name, namespace), where) as (here, key, carriers):
        held = [carrier for carrier in carriers if HOLD in carrier.notes]
        if not dry_run:
            take_away(here.transport, held, HELD)
    if held:
        _told(key, "is released", "stood", held, dry_run=dry_run)
    else:
        say(f"gang {key} is not held")


@contextmanager
def _gang(name: str, where: Where) -> "Iterator[tuple[Followed, str, list[Carrier]]]":
    """
    Look for a gang in the cluster: its key, and the objects that a hold stands on.
    """
    from adapters.kube.acting.holding import carriers_of

    with where.cluster().followed() as here:
        keys = [gang.key for gang in here.source.snapshot().gangs]
        key = the_one("gang", name, keys, str, here.server)
        yield here, key, carriers_of(here.source, key)


def _told(
    key: str, what: str, verb: str, carriers: "list[Carrier]", *, dry_run: bool
) -> None:
    if not carriers:
        say(f"gang {key} has no object and no pod to write to")
        return
    more = f" and {len(carriers) - 1:,} more" if len(carriers) > 1 else ""
    would = ", but nothing was written" if dry_run else ""
    say(f"gang {key} {what}{would}: it {verb} on {carriers[0]}{more}")


def pause(
    *,
    reason: Why = "",
    namespace: RunsIn = None,
    wait: Annotated[
        bool,
        typer.Option(
            "--wait/--no-wait", help="Wait until the scheduler must have read it."
        ),
    ] = True,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
) -> None:
    """
    Let the scheduler plan and report, but bind and evict nothing until it resumes.

    What a round has begun to carry out by then is completed.  A pause that is there
    already stays as it is, unless there is a new reason.
    """
    from adapters.kube.acting.holding import put, stood
    from adapters.kube.acting.pause import PAUSED, READ_EVERY

    transport, carrier = _namespace(namespace, kubeconfig, context)
    put(transport, [carrier], PAUSED, reason, time())
    if wait:
        sleep(READ_EVERY)
    since = "now on" if wait else f"{READ_EVERY:.0f} s from now on at the latest"
    before = stood([carrier], PAUSED, reason)
    how = "paused:" if before is None else f"paused already{before};"
    where = f"it stands on {carrier}"
    say(f"{how} {where}, and no round that begins from {since} binds or evicts")


def resume(
    *,
    namespace: RunsIn = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
) -> None:
    """
    Let a paused scheduler bind and evict again.
    """
    from adapters.kube.acting.holding import take_away
    from adapters.kube.acting.pause import PAUSE, PAUSED

    transport, carrier = _namespace(namespace, kubeconfig, context)
    if PAUSE in carrier.notes:
        take_away(transport, [carrier], PAUSED)
        say(f"resumed: the pause is gone from {carrier}")
    else:
        say(f"not paused: no pause stands on {carrier}")


def _namespace(
    namespace: str | None, kubeconfig: str | None, context: str | None
) -> "tuple[Transport, Carrier]":
    """
    Give the way to the server, and the namespace that the scheduler runs in.
    """
    from adapters.kube.acting.holding import namespace_named
    from adapters.kube.api.connect import connect
    from adapters.service.run_settings import as_run_here

    run = as_run_here()
    transport = connect(kubeconfig or run.kubeconfig, context or run.context)
    return transport, namespace_named(transport, namespace or run.namespace)
