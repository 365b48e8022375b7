import shutil
import socket
import ssl
import subprocess
import threading
from contextlib import contextmanager, suppress
from http.client import HTTPException

import pytest

from adapters.kube.api.connect import connect
from adapters.kube.api.connection import NotConnectedError, whole
from adapters.kube.api.direct import Direct, DirectFlow, direct_to
from adapters.kube.api.errors import AnswerError, ThrottledError, UnreachableError
from adapters.kube.api.http1 import Response
from tests.adapters.kube.following import TIMEOUTS, kubeconfig

GET = ("GET", "/", {}, None)
FINE = b'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"a":"b"}'


@contextmanager
def answering(*answers):
    """
    Response one request after the other; None ends the connection.

    Gives the port, and the connection that each request came on, counted.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    came = []

    def serve():
        left, number, held = list(answers), 0, []
        while left:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            held.append(connection)
            number += 1
            while left and connection.recv(65536):
                came.append(number)
                answer = left.pop(0)
                if answer is None:
                    break
                connection.sendall(answer)
                if left and left[0] == b"":
                    left.pop(0)
                    break
            connection.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield listener.getsockname()[1], came
    listener.close()
    thread.join(2)


def exchange(direct):
    return whole(direct.follow(GET, 1.0, 1.0))


def test_a_connection_is_used_again():
    with answering(FINE, FINE, FINE) as (port, came):
        direct = Direct(f"http://127.0.0.1:{port}")
        replies = [exchange(direct) for _ in range(3)]
        direct.close()

    assert [200, 200, 200] == [reply.status for reply in replies]
    assert [1, 1, 1] == came


def test_a_connection_that_the_server_has_ended_meanwhile_is_not_used():
    with answering(FINE, b"", FINE) as (port, came):
        direct = Direct(f"http://127.0.0.1:{port}")
        exchange(direct)
        (idle,) = direct._idle
        idle.recv(1, socket.MSG_PEEK)  # wait until its end has come
        second = exchange(direct)
        direct.close()

    assert 200 == second.status
    assert [1, 2] == came


def test_a_connection_that_is_to_be_closed_is_not_kept():
    closing = FINE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    with answering(closing, b"", FINE) as (port, came):
        direct = Direct(f"http://127.0.0.1:{port}")
        exchange(direct)
        exchange(direct)
        direct.close()

    assert [1, 2] == came


def test_who_is_not_there_was_not_asked():
    with pytest.raises(NotConnectedError):
        exchange(Direct("http://127.0.0.1:1"))


@pytest.mark.parametrize("answer", [None, FINE[:-3], b"nonsense\r\n\r\n"])
def test_what_breaks_off_in_the_middle_is_said_and_never_sent_again(answer):
    with answering(answer) as (port, came):
        direct = Direct(f"http://127.0.0.1:{port}")
        with pytest.raises((OSError, HTTPException)) as caught:
            exchange(direct)

    assert not isinstance(caught.value, NotConnectedError)
    assert [1] == came
    assert not direct._idle


def test_a_request_of_which_nobody_knows_what_came_is_unreachable(tmp_path):
    with answering(FINE, None) as (port, _):
        url = f"http://127.0.0.1:{port}"
        transport = connect(kubeconfig(tmp_path, url), timeouts=TIMEOUTS)
        first = transport.call("GET", "/x")
        with pytest.raises(UnreachableError) as caught:
            transport.call("POST", "/x", {})
        transport.close()

    assert {"a": "b"} == first
    assert not caught.value.lasting


def test_statuses_of_short_requests_are_errors_as_any(tmp_path):
    busy = b"HTTP/1.1 429 Too\r\nRetry-After: 7\r\nContent-Length: 2\r\n\r\n{}"
    wrong = b'HTTP/1.1 500 No\r\nContent-Length: 15\r\n\r\n{"message":"m"}'
    with answering(busy, wrong) as (port, came):
        url = f"http://127.0.0.1:{port}"
        transport = connect(kubeconfig(tmp_path, url), timeouts=TIMEOUTS)
        with pytest.raises(ThrottledError) as throttled:
            transport.call("GET", "/x")
        with pytest.raises(AnswerError, match="the server answered 500, m"):
            transport.call("GET", "/x")
        transport.close()

    assert 7 == throttled.value.seconds
    assert [1, 1] == came


def test_what_follows_an_event_gathers_before_it_is_read():
    here, there = socket.socketpair()
    paused = []

    def sleep(seconds):
        paused.append(seconds)
        there.sendall(b"3\r\ntwo\r\n5\r\nthree\r\n0\r\n\r\n")

    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    there.sendall(head + b"3\r\none\r\n")
    with here, there:
        flow = DirectFlow(here, Response(here), print, sleep)

        assert [b"one", b"two", b"three"] == list(flow.pieces())
    assert 1 == len(paused)


class Configuration:
    host = "https://10.0.0.1:443/base/"
    proxy = no_proxy = tls_server_name = assert_hostname = None
    verify_ssl, ssl_ca_cert, ca_cert_data = True, None, None
    cert_file = key_file = None

    def __init__(self, **settings):
        self.__dict__.update(settings)


@pytest.mark.parametrize(
    ("settings", "is_direct"),
    [
        ({}, True),
        ({"proxy": "http://proxy:3128"}, False),
        ({"proxy": "http://proxy:3128", "no_proxy": "10.0.0.1"}, True),
        ({"tls_server_name": "other"}, False),
        ({"assert_hostname": False}, False),
    ],
)
def test_only_what_needs_no_more_than_a_connection_is_direct(settings, is_direct):
    assert is_direct == (direct_to(Configuration(**settings)) is not None)


def test_a_name_that_is_none_is_said_as_no_connection():
    with pytest.raises(NotConnectedError, match="UnicodeError"):
        exchange(Direct("https://kube..example:6443", ssl.create_default_context))


def test_a_server_of_other_letters_goes_by_the_pool():
    assert direct_to(Configuration(host="https://bücher.example")) is None


def cut_off(listener):
    """
    End the first connection before anything was said.
    """
    with suppress(OSError):
        listener.accept()[0].close()


@pytest.mark.parametrize("ends", [True, False])
def test_a_server_that_restarts_is_worth_waiting_for(ends):
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    if ends:
        thread = threading.Thread(target=cut_off, args=(listener,), daemon=True)
        thread.start()
    direct = Direct(f"https://127.0.0.1:{port}", ssl.create_default_context)
    with pytest.raises(NotConnectedError) as caught:
        direct.follow(GET, 0.2, 0.2)
    listener.close()

    assert not caught.value.lasting


def test_a_server_at_which_nobody_listens_is_not_waited_for():
    with pytest.raises(NotConnectedError) as caught:
        exchange(Direct("http://127.0.0.1:1"))

    assert caught.value.lasting


def test_a_certificate_that_cannot_be_read_is_said_as_no_connection(tmp_path):
    (tmp_path / "ca.crt").write_text("nothing")
    direct = direct_to(Configuration(ssl_ca_cert=str(tmp_path / "ca.crt")))
    with pytest.raises(NotConnectedError, match="SSLError"):
        exchange(direct)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """
    Certificates that sign themselves, for this machine and for another one.
    """
    if shutil.which("openssl") is None:
        pytest.skip("no openssl is here, which makes certificates")
    folder = tmp_path_factory.mktemp("certificates")
    for name, alternative in (("here", "IP:127.0.0.1"), ("there", "DNS:there")):
        subprocess.run(
            [
                *("openssl", "req", "-x509", "-newkey", "ec", "-nodes", "-days", "1"),
                *("-pkeyopt", "ec_paramgen_curve:prime256v1", "-subj", f"/CN={name}"),
                *("-addext", f"subjectAltName={alternative}"),
                *("-keyout", folder / f"{name}.key", "-out", folder / f"{name}.crt"),
            ],
            check=True,
            capture_output=True,
        )
    return folder


@pytest.mark.parametrize(
    ("shows", "trusts", "verifies", "is_asked"),
    [
        ("here", "here", True, True),
        ("here", "there", True, False),
        ("there", "there", True, False),
        ("there", "here", False, True),
    ],
)
def test_only_the_server_that_is_trusted_is_asked(
    certificates, shows, trusts, verifies, is_asked
):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(
        certificates / f"{shows}.crt", certificates / f"{shows}.key"
    )
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        with (
            suppress(OSError),
            listener.accept()[0] as plain,
            context.wrap_socket(plain, server_side=True) as connection,
        ):
            connection.recv(65536)
            connection.sendall(FINE)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    direct = direct_to(
        Configuration(
            host=f"https://127.0.0.1:{listener.getsockname()[1]}",
            ssl_ca_cert=str(certificates / f"{trusts}.crt"),
            verify_ssl=verifies,
        )
    )
    try:
        asked = exchange(direct).status == 200
    except NotConnectedError as error:
        asked = "CERTIFICATE_VERIFY_FAILED" not in str(error)
    direct.close()
    thread.join(2)
    listener.close()

    assert is_asked == asked
