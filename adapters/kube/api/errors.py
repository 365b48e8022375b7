"""
What can go wrong between us and an API server, each with its data and one sentence.
"""

from collections.abc import Iterable, Iterator, Sequence

from models.errors import InputRejectedError, PhalanxError, printable

_MOST_ALIKE = 3


class ClusterError(PhalanxError):
    """
    A cluster could not be read or written; ``todo`` is what to do about it.
    """

    todo = "check the kubeconfig, the network and the role"


class KubeconfigError(ClusterError):
    """
    Nothing says where the API server is and who we are.
    """


class UnreachableError(ClusterError):
    """
    The server did not answer, or stopped in the middle.

    ``lasting`` says that nobody listens there, so that waiting is of little use.
    """

    def __init__(self, what: str, why: str, *, lasting: bool = False) -> None:
        self.what = what
        self.lasting = lasting
        super().__init__(f"cannot {what}: {printable(why)}")


class AnswerError(ClusterError):
    """
    The server answered with an error status.
    """

    def __init__(self, what: str, status: int, message: str) -> None:
        self.what = what
        self.status = status
        self.message = message
        super().__init__(
            f"cannot {what}: the server answered {status}, {printable(message)}"
        )


class ForbiddenError(AnswerError):
    """
    Our role lacks a rule; ``rule`` is what to add to it.

    Without one the server says itself what it forbids, such as an admission does.
    """

    def __init__(self, what: str, message: str, rule: str) -> None:
        super().__init__(what, 403, message)
        self.rule = rule
        if rule:
            self.args = (f"cannot {what}: the role lacks the rule {rule}",)


class NotFoundError(AnswerError):
    """
    There is no such object, or the kind is not installed.
    """


class ExpiredError(AnswerError):
    """
    The resource version asked for is no longer kept.
    """


class ConflictError(AnswerError):
    """
    The object is no longer what the request said it is.
    """


class ThrottledError(AnswerError):
    """
    The server asks us to come back later.

    ``causes`` are the reasons that it names, such as ``DisruptionBudget``.
    """

    def __init__(
        self,
        what: str,
        status: int,
        message: str,
        seconds: float,
        causes: Iterable[str] = (),
    ) -> None:
        super().__init__(what, status, message)
        self.seconds = seconds
        self.causes = tuple(causes)


class UnreadableError(ClusterError):
    """
    An object or a line of the server is not what its kind is.
    """


class ObjectUnreadError(UnreadableError):
    """
    One object of the server cannot be read, which is no fault of the others.

    ``is_gone`` says that it was deleted.
    """

    is_gone = False

    def __init__(self, where: str, key: str, version: str, why: str) -> None:
        self.key = key
        self.version = version
        self.why = why
        super().__init__(f"{where} {printable(key)}: {printable(why)}")


class CredentialsError(ClusterError):
    """
    What says who we are cannot be read now.
    """


class DisorderError(ClusterError):
    """
    An event came late: what we hold may lack others, so all is listed again.
    """


class SnapshotRefusedError(ClusterError):
    """
    Some resource is not read yet or too old to plan by; ``problems`` says which.

    What is wrong with many kinds alike is ``told`` once.
    """

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        self.told = tuple(_likewise(self.problems))
        super().__init__(f"no snapshot: {'; '.join(self.told)}")


def _likewise(problems: Sequence[str]) -> Iterator[str]:
    """
    Say once what is wrong with many kinds, each of which its problem begins with.
    """
    alike: dict[str, list[str]] = {}
    for problem in problems:
        kind = problem.partition(" ")[0]
        alike.setdefault(problem.replace(kind, ""), []).append(problem)
    for same in alike.values():
        shown = same if len(same) <= _MOST_ALIKE else same[:1]
        yield from shown
        if len(same) > len(shown):
            yield f"… and {len(same) - 1} other kinds likewise"


class ManifestsRejectedError(InputRejectedError):
    """
    Objects cannot be read as written.
    """


def is_lasting(error: ClusterError | None) -> bool:
    """
    Tell an error that waiting does not mend: no right, no server.
    """
    if isinstance(error, UnreachableError):
        return error.lasting
    return isinstance(error, AnswerError) and error.status in {401, 403}


def answer_error(
    what: str,
    status: int,
    message: str,
    *,
    rule: str = "",
    seconds: float | None = None,
    causes: Iterable[str] = (),
) -> AnswerError:
    """
    Give the error that a status of the server means.
    """
    if status == 403:
        return ForbiddenError(what, message, rule if _is_by_role(message) else "")
    if status == 429 or (status == 503 and seconds is not None):
        return ThrottledError(what, status, message, seconds or 0.0, causes)
    return _BY_STATUS.get(status, AnswerError)(what, status, message)


def _is_by_role(message: str) -> bool:
    """
    Tell whether a server forbids something to a user, and not to everybody.

    An admission does that: of a namespace that ends, for instance, or by a quota.
    """
    _, is_said, why = message.partition(" is forbidden: ")
    if not is_said:
        return "denied the request" not in message  # as a webhook does
    return why.startswith("User ")


_BY_STATUS: dict[int, type[AnswerError]] = {
    404: NotFoundError,
    409: ConflictError,
    410: ExpiredError,
}
