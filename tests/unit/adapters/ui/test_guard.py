"""
Who may ask the page's server, and who may not.
"""

import pytest

from adapters.ui.guard import Guard, hosts_of, is_loopback

HERE = Guard(hosts_of("127.0.0.1", 8712), None)
ABROAD = Guard(hosts_of("", 8712, ("gpu.example",)), "s3cret")
OURS = {"Host": "127.0.0.1:8712"}


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_this_machine_is_asked_by_any_of_its_names(host):
    assert HERE.refusal({"Host": f"{host}:8712"}, None) is None


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example:8712",
        "127.0.0.1",
        "127.0.0.1:80",
        "127.0.0.1.evil.example:8712",
    ],
)
def test_a_foreign_name_is_refused_whoever_it_leads_to(host):
    assert "not served here" in HERE.refusal({"Host": host}, None)


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
    ],
)
def test_what_another_site_makes_a_browser_ask_is_refused(headers):
    assert "another site" in HERE.refusal(OURS | headers, None)


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1:8712"},
    ],
)
def test_our_own_page_and_who_typed_the_address_are_let_through(headers):
    assert HERE.refusal(OURS | headers, None) is None


def test_off_loopback_a_token_is_wanted_in_the_address_or_as_a_cookie():
    name = {"Host": "gpu.example:8712"}
    cookie = {"Cookie": f"a=b; {ABROAD.cookie_name}=s3cret"}

    assert "token" in ABROAD.refusal(name, None)
    assert "token" in ABROAD.refusal(name, "wrong")
    assert "token" in ABROAD.refusal(name | {"Cookie": "a\x00=;;;"}, None)
    assert "token" in ABROAD.refusal(OURS, None)
    assert ABROAD.refusal(name, "s3cret") is None
    assert ABROAD.refusal(name | cookie, None) is None
    assert "another site" in ABROAD.refusal(
        name | cookie | {"Sec-Fetch-Site": "cross-site"}, None
    )


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.1.2.3", True),
        ("localhost", True),
        ("::1", True),
        ("[::1]", True),
        ("", False),
        ("192.0.2.1", False),
        ("10.0.0.7", False),
        ("localhost.evil.example", False),
    ],
)
def test_loopback_is_what_only_this_machine_reaches(host, loopback):
    assert loopback == is_loopback(host)
