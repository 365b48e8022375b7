import socket
from http.client import HTTPException, HTTPResponse
from itertools import pairwise
from random import Random

import pytest

from adapters.kube.api.http1 import Response, request

FINE = b"HTTP/1.1 200 OK\r\n"


class Trickle:
    """
    A connection that gives some bytes a few at a time, and then ends.
    """

    def __init__(self, data, sizes=(7,)):
        self.left = data
        self.sizes = list(sizes)

    def recv(self, most):
        self.sizes.append(size := self.sizes.pop(0))
        piece, self.left = self.left[: min(size, most)], self.left[min(size, most) :]
        return piece


def read(data, sizes=(7,)):
    answer = Response(Trickle(data, sizes))
    return answer, answer.whole()


def chunked(*pieces, trailers=b""):
    parts = [b"%x;name=value\r\n%s\r\n" % (len(piece), piece) for piece in pieces]
    return b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(
        [*parts, b"0\r\n", trailers, b"\r\n"]
    )


@pytest.mark.parametrize(
    ("data", "body", "lasts"),
    [
        (FINE + b"Content-Length: 3\r\n\r\nabc", b"abc", True),
        (FINE + b"content-length:3\r\n\r\nabc", b"abc", True),
        (FINE + b"Content-Length: 0\r\n\r\n", b"", True),
        (FINE + b"Content-Length: 3\r\n\r\nabcd", b"abc", False),
        (FINE + b"Content-Length: 3\r\nConnection: close\r\n\r\nabc", b"abc", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc", b"abc", False),
        (FINE + b"\r\nall of it", b"all of it", False),
        (FINE + chunked(b"ab", b"c"), b"abc", True),
        (FINE + chunked(b"abc", trailers=b"Sum: 1\r\n"), b"abc", True),
        (FINE + chunked(), b"", True),
        (b"HTTP/1.1 204 No\r\n\r\n", b"", True),
        (b"HTTP/1.1 304 No\r\nContent-Length: 3\r\n\r\n", b"", True),
        (
            b"HTTP/1.1 100 Go on\r\n\r\n" + FINE + b"Content-Length: 1\r\n\r\na",
            b"a",
            True,
        ),
        (b"HTTP/1.1 200\r\nContent-Length: 1\r\n\r\na", b"a", True),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 16_384])
def test_an_answer_is_read_to_its_end(data, body, lasts, size):
    answer, found = read(data, [size])

    assert body == found
    assert lasts == answer.lasts or size < 16_384


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"HTTP/1.1 200 OK\r\n",
        b"nonsense\r\n\r\n",
        b"HTTP/2 200 OK\r\n\r\n",
        b"HTTP/1.1 99 OK\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        FINE + b"Content-Length: 3\r\n\r\nab",
        FINE + b"Content-Length: -3\r\n\r\nabc",
        FINE + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        FINE + b"Content-Length: 3x\r\n\r\nabc",
        FINE + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\nabc",
        b"HTTP/1.1 100 Go on\r\n\r\n" * 1000,
        FINE + b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"A: b\r\n" * 1000,
        FINE + b"Transfer-Encoding: gzip\r\n\r\nabc",
        FINE + b"Transfer-Encoding: chunked\r\n\r\n-1\r\nabc\r\n",
        FINE + b"Transfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n",
        FINE + b"Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n",
        FINE + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        FINE + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n",
        FINE + b" folded: a\r\n\r\n",
        FINE + b"Name : a\r\n\r\n",
        FINE + b"no header\r\n\r\n",
        FINE + b"Long: " + b"a" * 100_000,
    ],
)
def test_what_is_no_whole_answer_is_said(data):
    with pytest.raises((HTTPException, OSError)):
        read(data)


def _any_answer(chance):
    """
    Make an answer of chance that every client must understand.
    """
    words = [b"X-%d: %s\r\n" % (n, b"v" * chance.randrange(30)) for n in range(3)]
    head = b"HTTP/1.1 %d Said\r\n" % chance.choice([200, 201, 404, 409, 429, 503])
    head += b"".join(chance.sample(words, chance.randrange(4)))
    body = chance.randbytes(chance.randrange(3000))
    if chance.random() < 0.5:
        return head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    cuts = sorted(chance.randrange(len(body) + 1) for _ in range(chance.randrange(5)))
    edges = [0, *cuts, len(body)]
    pieces = [body[a:b] for a, b in pairwise(edges) if b > a]
    return head + chunked(*pieces)


class Whole:
    """
    The same bytes for the client of the library.
    """

    def __init__(self, data):
        self.data = data

    def makefile(self, _):
        from io import BytesIO

        return BytesIO(self.data)


@pytest.mark.parametrize("seed", range(200))
def test_any_answer_is_read_as_the_library_reads_it(seed):
    chance = Random(seed)
    data = _any_answer(chance)
    expected = HTTPResponse(Whole(data))
    expected.begin()
    answer, body = read(data, [chance.randrange(1, 400) for _ in range(9)])

    assert (expected.status, expected.read()) == (answer.status, body)
    assert {k.lower(): v for k, v in expected.getheaders()} == answer.headers
    assert answer.lasts


def test_answers_that_follow_each_other_are_held_apart():
    data = FINE + b"Content-Length: 3\r\n\r\nabc"
    answer, body = read(data + data, [len(data) + 5])

    assert b"abc" == body
    assert not answer.lasts  # who was not asked has spoken


def test_a_request_is_written_whole():
    written = request("POST", "/a?b=c", "host:1", {"Accept": "x"}, b"{}")

    assert (
        b"POST /a?b=c HTTP/1.1\r\nHost: host:1\r\nAccept: x\r\n"
        b"Content-Length: 2\r\n\r\n{}"
    ) == written


def test_a_request_without_a_body_has_no_length():
    assert b"Content-Length" not in request("GET", "/", "h", {}, None)


@pytest.mark.parametrize(
    ("target", "headers"),
    [
        ("/a b", {}),
        ("/a\r\nX: y", {}),
        ("", {}),
        ("/ä", {}),
        ("/", {"Authorization": "Bearer a\r\nX: y"}),
        ("/", {"Authorization": "Bearer a\n"}),
        ("/", {"Authorization": "Bearer a\r"}),
        ("/", {"Authorization": "Bearer a\0"}),
        ("/", {"A\r\nB": "c"}),
    ],
)
def test_nothing_is_smuggled_into_a_request(target, headers):
    with pytest.raises(HTTPException):
        request("GET", target, "host", headers, None)


def test_what_has_come_is_known_without_waiting_for_it():
    here, there = socket.socketpair()
    with here, there:
        there.sendall(FINE + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
        answer = Response(here)
        pieces = answer.pieces()
        first = next(pieces)
        before = answer.has_come()
        there.sendall(b"0\r\n\r\n")
        after = answer.has_come()

        assert (b"abc", False, True, []) == (first, before, after, list(pieces))
