"""
The frames that a page can ask for, the newest last; who waits is told of new ones.
"""

import gzip
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from adapters.ui.frame import FramesMemo

MOST_FRAMES = 500
MOST_BYTES = 32 * 2**20
"""
Of the frames kept, packed; the oldest are let go.
"""
MOST_ANSWERS = 64
_BODY, _GREEDY, _REMEDIES = -2, -1, -3
Made = Callable[[], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class RoundAnswers:
    """
    What can be asked about a round: greedy's plan, why a gang waits, what would help.
    """

    greedy: Made
    why: Callable[[int], Mapping[str, Any]]
    remedies: Callable[[int], Mapping[str, Any]] = lambda _: {}


@dataclass(frozen=True, slots=True)
class StoredFrame:
    """
    One frame: its line in the list of rounds, and its document, packed.

    Of what was recorded the document is ``made``, and ``answers`` of all, when asked.
    """

    line: Mapping[str, Any]
    body: bytes
    answers: RoundAnswers | None
    made: Made | None = None


class FrameStore:
    """
    Frames by number, for one writer and many readers; ``memo`` is the writer's.
    """

    def __init__(self, source: str, *, live: bool) -> None:
        self.source = source
        self.live = live
        self.trouble = ""
        self.memo = FramesMemo()
        self._frames: OrderedDict[int, StoredFrame] = OrderedDict()
        self._replaced: OrderedDict[int, int] = OrderedDict()
        self._answered: dict[tuple[int, int], bytes] = {}
        self._changed = threading.Condition()
        self._trying = threading.Lock()
        self._next = 0
        self.version = 0

    def add(
        self,
        document: Mapping[str, Any],
        answers: RoundAnswers | None = None,
        instead: int | None = None,
    ) -> int:
        """
        Add a frame, perhaps instead of another, and tell who waits; give its number.
        """
        body = packed(document)
        with self._changed:
            number = self._next
            self._next += 1
            if instead is not None:
                self._frames.pop(instead, None)
                self._replaced[instead] = number
                while len(self._replaced) > MOST_FRAMES:
                    self._replaced.popitem(last=False)
            self._frames[number] = StoredFrame(_line(number, document), body, answers)
            self._let_go()
            self.trouble = ""
            self._tell()
        return number

    def add_later(
        self, head: Mapping[str, Any], made: Made, answers: RoundAnswers | None = None
    ) -> None:
        """
        Add a recorded round: ``head`` is for its line, the rest is made when asked for.
        """
        with self._changed:
            line = _line(self._next, head)
            self._frames[self._next] = StoredFrame(line, b"", answers, made)
            self._next += 1
            self._tell()

    def fail(self, why: str) -> None:
        """
        Say why there is nothing newer; the next frame ends it.
        """
        with self._changed:
            if self.trouble != why:
                self.trouble = why
                self._tell()

    def lines(self) -> dict[str, Any]:
        """
        Give the list of rounds, oldest first.
        """
        with self._changed:
            return {
                "source": self.source,
                "live": self.live,
                "answers": any(f.answers for f in self._frames.values()),
                "trouble": self.trouble,
                "version": self.version,
                "rounds": [frame.line for frame in self._frames.values()],
            }

    @property
    def newest(self) -> int:
        """
        The number of the newest frame; below 0 where there is none.
        """
        return self._next - 1

    def body(self, number: int) -> bytes | None:
        """
        Give a frame as packed JSON, or that which stands instead of it.

        Nothing where it was let go.
        """
        with self._changed:
            number = self._replaced.get(number, number)
            frame = self._frames.get(number)
        if frame is None or frame.made is None:
            return None if frame is None else frame.body
        return self._answer(number, _BODY, frame.made)

    def greedy(self, number: int) -> bytes | None:
        """
        Give greedy's plan of a round as packed JSON, made when it is first asked for.
        """
        answers = self._answers(number)
        if answers is None:
            return None
        return self._answer(number, _GREEDY, answers.greedy)

    def why(self, number: int, gang: int) -> bytes | None:
        """
        Say why a gang of a round waits, as packed JSON; nothing where nobody knows.
        """
        answers = self._answers(number) if gang >= 0 else None
        if answers is None:
            return None
        return self._answer(number, gang, lambda: answers.why(gang))

    def remedies(self, number: int, gang: int) -> bytes | None:
        """
        Say what would start a gang, and when it does; nothing where nobody knows.
        """
        answers = self._answers(number) if gang >= 0 else None
        if answers is None:
            return None
        what = _REMEDIES - gang
        return self._answer(number, what, lambda: answers.remedies(gang))

    def _answers(self, number: int) -> RoundAnswers | None:
        with self._changed:
            frame = self._frames.get(number)
        return None if frame is None else frame.answers

    def _answer(self, number: int, what: int, made: Made) -> bytes:
        """
        Answer one question at a time, and keep the newest answers.
        """
        with self._trying:
            found = self._answered.get((number, what))
            if found is None:
                found = packed(made())
                while len(self._answered) >= MOST_ANSWERS:
                    del self._answered[next(iter(self._answered))]
                self._answered[number, what] = found
            return found

    def wait(self, version: int, seconds: float) -> int:
        """
        Wait until there is something newer than a version; give the newest.
        """
        with self._changed:
            self._changed.wait_for(lambda: self.version != version, seconds)
            return self.version

    def _tell(self) -> None:
        self.version += 1
        self._changed.notify_all()

    def _let_go(self) -> None:
        """
        Keep what fits; of what is live, only the newest round can be asked about.
        """
        newest = next(reversed(self._frames))
        size = sum(len(frame.body) for frame in self._frames.values())
        for number, frame in [*self._frames.items()]:
            if number == newest:
                return
            if len(self._frames) > MOST_FRAMES or size > MOST_BYTES:
                size -= len(frame.body)
                del self._frames[number]
            elif self.live and frame.answers is not None:
                self._frames[number] = StoredFrame(frame.line, frame.body, None)


def packed(document: Mapping[str, Any]) -> bytes:
    """
    Write a document as small JSON, packed fast.
    """
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=True)
    return gzip.compress(text.encode(), 1, mtime=0)


def _line(number: int, document: Mapping[str, Any]) -> dict[str, Any]:
    """
    Give what the list of rounds says: when, how long, and the first tier that counts.
    """
    plan = document.get("plan") or {}
    counting = (x for x in plan.get("tiers", ()) if x["value"] or x["limit"] != 0)
    first: Mapping[str, Any] = next(counting, {})
    return {
        "id": number,
        "name": document["name"],
        "began": document["began"],
        "planned": bool(plan),
        "status": plan.get("status"),
        "seconds": plan.get("seconds"),
        "starts": plan.get("starts"),
        "waits": plan.get("waits"),
        "gpus": plan.get("gpus"),
        "tier": first.get("name"),
        "value": first.get("value"),
        "bound": first.get("limit"),
    }
