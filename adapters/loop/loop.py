"""
The loop: look, decide, carry out; for as long as we lead.

While a plan is carried out the next round is decided, on a snapshot that shows the plan
as if carried out, as soon as something has changed: else there is nothing new to decide
by, and binds need the machine.  One plan waits at most, and is dropped where the one
before it did not go as planned.  Nothing about gangs is decided here.
"""

from dataclasses import dataclass, field, replace

from adapters.loop.carrying import Carrying
from adapters.loop.interfaces import Turn
from adapters.loop.kept_rounds import KeptRounds
from adapters.loop.parts import Parts
from adapters.loop.paused import withheld
from adapters.loop.remembering import Remembering
from adapters.loop.telling import Teller
from adapters.loop.timing import AFTER_FAILURE, Timing
from adapters.machine.backoff import Backoff
from models.errors import PhalanxError
from models.snapshot import Snapshot
from models.why.reasons import Waiting

_AFTER_ERROR = 5.0
_REST = Backoff(first=_AFTER_ERROR, longest=60.0)


@dataclass(slots=True)
class Loop:
    """
    Rounds in the thread that calls ``run``, until another calls ``stop``.
    """

    parts: Parts
    _tell: Teller = field(init=False)
    _rounds: KeptRounds = field(init=False)
    _carrying: Carrying = field(init=False)
    _remembering: Remembering = field(init=False)
    _timing: Timing = field(init=False)
    _leads: bool = False
    _acted_on: int = -1
    _about: Snapshot | None = None
    _errors: int = 0
    _paused: Waiting | None = None

    def __post_init__(self) -> None:
        """
        Put together what a loop does its work with.
        """
        self._tell = Teller(self.parts.reporter)
        self._rounds = KeptRounds(self.parts, self._tell)
        self._carrying = Carrying(self.parts, self._tell)
        self._remembering = Remembering(self.parts, self._tell)
        self._timing = Timing(self.parts)

    def run(self) -> None:
        """
        Do rounds until we are stopped, and end what was begun.
        """
        while not self._timing.stopped.is_set():
            try:
                self.step()
                pause, self._errors = self._pause(), 0
            except Exception as error:  # noqa: BLE001 - the top of the loop
                pause = self._broke(error)
            self._timing.wait(pause, self._carrying.running)
        self._wind_down()

    def stop(self) -> None:
        """
        Let the loop end; what is begun is ended first.
        """
        self._timing.stopped.set()
        self.parts.source.changed.set()

    @property
    def is_stopping(self) -> bool:
        """
        Tell whether nothing new is begun any more.
        """
        return self._timing.stopped.is_set()

    def step(self) -> None:
        """
        Look once, and do what there is to do.
        """
        self._tell(lambda to: to.ticked())
        self._about = None
        self._collect()
        if not self._lead():
            return
        carrying = self._carrying
        binds = carrying.running is not None
        if self._remembering.is_owed and not binds:
            self._remembering.keep()
        if carrying.next is not None:
            carrying.begin_next(is_old=self._timing.is_due)
        elif not binds and (held := self.parts.sink.due()) is not None:
            carrying.begin(replace(held, began=self.parts.now()))
        elif self._timing.is_quiet:
            self._tell(lambda to: to.skipped())
        elif not self._is_awaiting():
            self._round()
        if self._timing.quiet is not None and carrying.running is None:
            self._remembering.keep_if_due()

    def _lead(self) -> bool:
        """
        Tell whether we lead, and begin or end doing so.
        """
        held = self.parts.leadership.is_held()
        if held and (not self._leads or self.parts.sink.is_lost):
            if self._carrying.running is not None:
                return False  # of an earlier term; its binds stop by themselves
            self._carrying.drop("of an earlier term")
            self.parts.sink.open(self.parts.now())
            self._timing.quiet = None
        if held != self._leads:
            self._leads = held
            self._tell(lambda to: to.leading(is_leader=held))
        if not held:
            self._carrying.drop("we no longer lead")
        return held

    def _is_awaiting(self) -> bool:
        """
        Tell whether nothing has changed since the plan that is carried out.
        """
        waits = self._carrying.running is not None and not self._timing.is_due
        return waits and self.parts.source.revision == self._acted_on

    def _round(self) -> None:
        """
        Decide once.
        """
        parts = self.parts
        began, revision, start = parts.now(), parts.source.revision, parts.clock()
        self._paused = parts.pause()
        try:
            self._about = parts.source.snapshot()
            self._about = snapshot = parts.memory.applied(self._about, began)
        except PhalanxError as refusal:
            self._tell.refused(refusal)
            self._timing.rest = AFTER_FAILURE
            return
        parts.sink.looked(snapshot, self._paused)
        turn = self._rounds.decided(snapshot, began, start)
        self._timing.planned(start)
        if turn is None:
            self._timing.quieten(snapshot, began, revision, self._paused)
        else:
            self._take(turn, revision)

    def _take(self, turn: Turn, revision: int) -> None:
        """
        Begin with a plan that has something to do, where it may be done.
        """
        parts, plan = self.parts, turn.plan
        if self._paused is not None or not parts.acts:
            why = self._paused
            shown = replace(turn, plan=withheld(plan, why)) if why else turn
            self._tell(lambda to: to.planned(shown))
            self._timing.quieten(turn.snapshot, turn.began, revision, why)
            return
        self._tell(lambda to: to.planned(turn))
        if parts.memory.promises.repeats(plan):
            parts.memory.passed_over(turn.snapshot, plan, turn.began)
            self._timing.quieten(turn.snapshot, turn.began, revision, None, plan)
        else:
            self._timing.quiet, self._acted_on = None, revision
            self._carrying.next = turn
            self._carrying.begin_next()

    def _broke(self, error: Exception) -> float:
        """
        Keep what shows an error that nobody expected, and rest, longer each time.

        Nothing is begun by a round that breaks.  Changes do not end the rest: who
        breaks on what is there breaks on every change.  A server that is away before
        anything was looked at is tried again soon; give the pause for that.
        """
        self._timing.quiet = None
        if isinstance(error, PhalanxError) and self._about is None:
            self._tell.failed(error)
            return _AFTER_ERROR
        self._errors += 1
        self._rounds.broke(self._about, error)
        self._carrying.drop("a round broke")
        self._timing.rest = _REST.after(self._errors)
        return 0.0

    def _collect(self) -> None:
        """
        Take what came of a plan, once it is carried out.
        """
        if (ended := self._carrying.over) is None:
            return
        self._about = ended.turn.snapshot
        self._carrying.end(ended)
        self._timing.carried_out(ended)
        if ended.done is not None and (self._remembering.is_due or not ended.went_well):
            self._remembering.owe()
        if ended.error is not None:
            raise ended.error

    def _pause(self) -> float:
        """
        Give the seconds until the next look, where nothing changes before.
        """
        carrying = self._carrying
        if carrying.next is not None or not self._leads or self._is_awaiting():
            return self.parts.pulse.interval
        return self._timing.left(is_binding=carrying.running is not None)

    def _wind_down(self) -> None:
        """
        Wait until begun gangs are whole; leave the rest to the next leader.
        """
        self._carrying.drop("we stop")
        running = self._carrying.running
        if running is not None and not running.join(self.parts.pulse.shutdown):
            return
        try:
            self._collect()
            if self._leads and self.parts.leadership.is_held():
                self.parts.sink.remember()
        except Exception as error:  # noqa: BLE001 - we end in any case
            self._tell.failed(error)
