"""
``phalanx what-if``: one round as it is and as it would be, and who gains or loses.
"""

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.options.change_options import (
    AddNodes,
    Cancel,
    ChangeTexts,
    Cordon,
    Drain,
    Limit,
    Priority,
    Quota,
    RemoveNodes,
    Submit,
    Uncordon,
    Weight,
    changes_of,
)
from adapters.cli.options.common import (
    DIFFERS,
    Dialects,
    NoColor,
    SchedulerNames,
    Seconds,
    Seed,
    Strategy,
    Workers,
    chosen,
    only,
)
from adapters.cli.terminal.output import (
    Format,
    Paint,
    as_text,
    emit,
    say,
    screen_width,
    warn,
)
from adapters.cli.views.listed_source import Context, Kubeconfig
from adapters.cli.views.plan_source import Files, PlanSource
from models.errors import WrongUseError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adapters.cli.options.change_options import VariedChange
    from adapters.cli.terminal.progress import Progress
    from adapters.compare.what_would_be import WhatIfAsked
    from models.changes import SubmittedGangs
    from models.documents.scenario import Scenario
    from models.policy import Policy

PolicyFile = Annotated[
    str | None,
    typer.Option("--policy", metavar="FILE", help="Plan with the policy of this file."),
]
Output = Annotated[
    Format,
    typer.Option(
        "-o",
        "--output",
        metavar="table|wide|json|yaml",
        help="The format of the answer.",
    ),
]
DetailedExitCode = Annotated[
    bool, typer.Option("--detailed-exitcode", help="Exit 3 if the plans differ.")
]


def what_if(
    files: Files = None,
    *,
    add_nodes: AddNodes = None,
    remove_nodes: RemoveNodes = None,
    drain: Drain = None,
    cordon: Cordon = None,
    uncordon: Uncordon = None,
    quota: Quota = None,
    limit: Limit = None,
    weight: Weight = None,
    priority: Priority = None,
    cancel: Cancel = None,
    submit: Submit = None,
    policy: PolicyFile = None,
    kubeconfig: Kubeconfig = None,
    kube_context: Context = None,
    output: Output = Format.TABLE,
    strategy: Strategy = None,
    seconds: Seconds = None,
    seed: Seed = None,
    workers: Workers = None,
    detailed_exitcode: DetailedExitCode = False,
    scheduler_name: SchedulerNames = None,
    dialect: Dialects = None,
    no_color: NoColor = False,
) -> int:
    """
    Plan one round as it is and as it would be: who starts, waits or leaves then.

    One number may be a range (--add-nodes dgx=0..16): a table and a chart then.
    """
    return _what_if(locals())


def _what_if(said: dict[str, Any]) -> int:
    """
    Answer what was asked, by the names of its options.
    """
    output: Format = said["output"]
    only(output, Format.TABLE, Format.WIDE, Format.JSON, Format.YAML)
    names = [field.name for field in fields(ChangeTexts)]
    source = PlanSource.of(
        said["files"],
        submitted=said["submit"],
        schedulers=said["scheduler_name"],
        dialects=said["dialect"],
        kubeconfig=said["kubeconfig"],
        context=said["kube_context"],
        compares=True,
    )
    asked = _Question(
        source,
        ChangeTexts(**{name: said[name] or () for name in names}),
        said["policy"],
        chosen(said["strategy"]),
        {name: said[name] for name in ("seconds", "seed", "workers")},
    )
    look = _AnswerForm(output, Paint(no_color=said["no_color"]), screen_width())
    differs = _answered(asked, look)
    return DIFFERS if said["detailed_exitcode"] and differs else 0


@dataclass(frozen=True, slots=True)
class _AnswerForm:
    """
    How the answer is written.
    """

    form: Format
    paint: Paint
    width: int | None

    @property
    def for_eyes(self) -> bool:
        """
        Tell whether a person reads it.
        """
        return self.form in {Format.TABLE, Format.WIDE}


@dataclass(frozen=True, slots=True)
class _Question:
    """
    What is asked, as it was written.
    """

    source: PlanSource
    texts: ChangeTexts
    policy: str | None
    strategy: str
    flags: dict[str, float | None]

    def read(self) -> "tuple[Scenario, WhatIfAsked, VariedChange | None]":
        """
        Read what is, and what is to be changed.
        """
        from adapters.cli.options.change_options import says_parts
        from adapters.compare.what_would_be import WhatIfAsked
        from adapters.service.settings import effective
        from models.changes import counting_parts, counts_parts

        now, then = self.source.read_both()
        warn(then.snapshot.warnings)
        if says_parts(self.texts, now.snapshot) or counts_parts(then.snapshot):
            now, then = (
                replace(case, snapshot=counting_parts(case.snapshot))
                for case in (now, then)
            )
        come = self._submitted(now, then) if self.source.submitted else None
        changes, varied = changes_of(self.texts, now.snapshot, come)
        if not (changes or varied or self.policy):
            raise WrongUseError("no change is named, such as --add-nodes dgx=4")
        policy = effective(now.policy, self.flags).policy
        other = policy if self.policy is None else self._policy(self.policy)
        asking = WhatIfAsked(
            now.source, now.snapshot, policy, changes, other, self.strategy
        )
        return now, asking, varied

    def _submitted(self, now: "Scenario", then: "Scenario") -> "SubmittedGangs":
        """
        Give what comes: only gangs and their budgets can, and some gangs must.

        A queue without rules of its own may: one is made up for gangs that name none.
        """
        from models.changes import SubmittedGangs

        named = {queue.name for queue in now.snapshot.queues}
        queues = [queue for queue in then.snapshot.queues if queue.name not in named]
        made = tuple(queue for queue in queues if not queue.says_anything)
        for word in ("nodes", "queues", "topologies"):
            known = {each.name for each in (*getattr(now.snapshot, word), *made)}
            new = [e.name for e in getattr(then.snapshot, word) if e.name not in known]
            if new:
                what = f"--submit brings {word} too ({', '.join(new[:3])})"
                raise WrongUseError(
                    f"{what}; submit gangs only, and name such files as FILE"
                )
        there = {gang.key for gang in now.snapshot.gangs}
        come = tuple(gang for gang in then.snapshot.gangs if gang.key not in there)
        if not come:
            files = ", ".join(self.source.submitted)
            raise WrongUseError(f"--submit {files} brings no gang that is planned")
        known = {budget.name for budget in now.snapshot.budgets}
        budgets = (one for one in then.snapshot.budgets if one.name not in known)
        return SubmittedGangs(gangs=come, budgets=tuple(budgets), queues=made)

    def _policy(self, path: str) -> "Policy":
        from adapters.cli.options.trace_options import policy_from

        return policy_from(path, self.flags)

    @property
    def words(self) -> list[str]:
        """
        Give the changes as they were written.
        """
        names = [field.name for field in fields(ChangeTexts)]
        said = [
            f"--{name.replace('_', '-')} {text}"
            for name in names
            for text in getattr(self.texts, name)
        ]
        said += [f"--submit {name}" for name in self.source.submitted]
        return said + ([f"--policy {self.policy}"] if self.policy else [])


def _answered(asked: _Question, look: _AnswerForm) -> bool:
    """
    Answer, and say whether anything differs.
    """
    from adapters.cli.terminal.progress import Progress

    with Progress() as progress:
        scenario, asking, varied = asked.read()
        warn(_without_effect(asking, varied))
        title = f"{scenario.source}: what if {', '.join(asked.words)}"
        if varied is None:
            return _one(title, asking, look, progress)
        return _several(title, asking, varied, look, progress)


def _without_effect(
    asking: "WhatIfAsked", varied: "VariedChange | None"
) -> "Iterator[str]":
    """
    Say which changes of queues do nothing, of a series for its last amount.
    """
    from models.changes import QueueRule, changed, without_effect

    last = [] if varied is None else [varied.of(varied.amounts[-1])]
    changes = [*asking.changes, *last]
    then = changed(asking.snapshot, changes)
    rules = [change for change in changes if isinstance(change, QueueRule)]
    texts = [without_effect(then, rule) for rule in rules]
    yield from dict.fromkeys(filter(None, texts))


def _one(
    title: str, asking: "WhatIfAsked", look: _AnswerForm, progress: "Progress"
) -> bool:
    from adapters.cli.views.difference_view import answer_lines
    from adapters.compare.what_would_be import answer, answer_document

    found = answer(asking, progress.say)
    if look.for_eyes:
        wide = look.form is Format.WIDE
        say(title, "", *answer_lines(found, look.paint, wide=wide, width=look.width))
    else:
        emit(as_text(answer_document(asking, found), look.form))
    return found.difference.is_any


def _several(
    title: str,
    asking: "WhatIfAsked",
    varied: "VariedChange",
    look: _AnswerForm,
    progress: "Progress",
) -> bool:
    from adapters.cli.views.difference_view import series_lines
    from adapters.compare.what_would_be import series, series_document

    steps = list(series(asking, varied.amounts, varied.of, progress.say))
    if look.for_eyes:
        say(title, *series_lines(steps, look.paint))
    else:
        last = varied.of(varied.amounts[-1])
        emit(as_text(series_document(asking, last, steps), look.form))
    return any(step.answer.difference.is_any for step in steps)
