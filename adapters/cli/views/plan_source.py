"""
Where rounds to be planned come from: files, or a cluster as it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Self

import typer

from models.dialects import DialectChoice

if TYPE_CHECKING:
    from models.documents.scenario import Scenario

Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE",
        help="A scenario, a snapshot or manifests; - is standard input. Several are "
        "parts of one snapshot. Without files: the cluster.",
    ),
]


@dataclass(frozen=True, slots=True)
class PlanSource:
    """
    Where the snapshot comes from; of manifests, whose pods are planned, and how read.

    Without files it is the cluster, with what is submitted to it.  Who ``compares``
    wants what is and what would be, also of files.
    """

    files: tuple[str, ...]
    submitted: tuple[str, ...]
    schedulers: tuple[str, ...]
    dialects: tuple[DialectChoice, ...]
    kubeconfig: str | None
    context: str | None
    compares: bool = False

    @classmethod
    def of(
        cls,
        files: Sequence[str] | None,
        *,
        submitted: Sequence[str] | None = None,
        schedulers: Sequence[str] | None = None,
        dialects: Sequence[DialectChoice] | None = None,
        kubeconfig: str | None = None,
        context: str | None = None,
        compares: bool = False,
    ) -> Self:
        """
        Take options as they were given; ``None`` is what was not.
        """
        return cls(
            tuple(files or ()),
            tuple(submitted or ()),
            tuple(schedulers or ()),
            tuple(dialects or ()),
            kubeconfig,
            context,
            compares,
        )

    def __post_init__(self) -> None:
        submitted = self.submitted and not self.compares
        if self.files and (submitted or self.kubeconfig or self.context):
            raise typer.BadParameter(
                "files are planned without a cluster: name them all as FILE, or none"
            )

    def read(self) -> "Scenario":
        """
        Read the files, else the cluster, with the policy that holds there.
        """
        return self.read_both()[1]

    def read_both(self) -> "tuple[Scenario, Scenario]":
        """
        Read what is, and what would be with what is submitted, if anything is.
        """
        if not self.files:
            return self._in_cluster()
        from adapters.files import read_scenarios

        now = read_scenarios(self.files, self.schedulers, self.dialects)
        if not self.submitted:
            return now, now
        both = (*self.files, *self.submitted)
        return now, read_scenarios(both, self.schedulers, self.dialects)

    def _in_cluster(self) -> "tuple[Scenario, Scenario]":
        from adapters.files.foreign import objects_in
        from adapters.service.following import ClusterChoice
        from adapters.service.remembered import starts_on_record
        from adapters.service.run_settings import config_of
        from models.documents.scenario import Scenario
        from models.policy import Policy

        manifests = objects_in(self.submitted) if self.submitted else None
        config = config_of(None)
        cluster = ClusterChoice(
            kubeconfig=self.kubeconfig,
            context=self.context,
            schedulers=self.schedulers,
            dialects=self.dialects,
        )
        with cluster.followed() as here:
            seen, paused = here.snapshot(), here.paused()
            seen = replace(seen, warnings=(*seen.warnings, *paused))
            now = Scenario(
                source=here.server,
                kind="Snapshot",
                snapshot=replace(seen, starts=starts_on_record(here)),
                policy=config.policy if config else Policy(),
            )
            if manifests is None:
                return now, now
            name = " with ".join((here.server, *self.submitted))
            then = here.snapshot(manifests)
            then = replace(then, warnings=(*then.warnings, *paused))
            return now, replace(now, source=name, snapshot=then)
