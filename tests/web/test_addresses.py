"""Which addresses are public, and how the spellings of one host come to the same."""

from ipaddress import ip_address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolwright.errors import ToolError
from toolwright.web.addresses import is_public
from toolwright.web.urls import LONGEST, parse_url


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",
        "10.1.2.3",
        "100.64.0.1",
        "100.100.100.200",
        "127.0.0.1",
        "127.255.255.254",
        "168.63.129.16",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.192",
        "192.168.1.1",
        "198.18.0.1",
        "203.0.113.9",
        "224.0.0.1",
        "239.255.255.250",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::10.0.0.1",
        "64:ff9b:1::8.8.8.8",
        "100::1",
        "2001::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "3fff::1",
        "5f00::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fec0::1",
        "ff02::1",
    ],
)
def test_what_is_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize(
    "address",
    ["1.1.1.1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"],
)
def test_what_is_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "spelling",
    [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "017700000001",
        "127.0.0.1.",
        "%31%32%37.0.0.1",
        "\uff11\uff12\uff17\u30020.0.1",
        "name:secret@127.0.0.1",
        "example.com@127.1",
    ],
)
def test_every_spelling_of_a_number_is_that_number(spelling: str) -> None:
    url = parse_url(f"http://{spelling}:8080/x")
    assert (url.host, url.address, str(url)) == ("127.0.0.1", ip_address("127.0.0.1"), "http://127.0.0.1:8080/x")


@settings(deadline=None)
@given(number=st.integers(0, 2**32 - 1), parts=st.integers(1, 4), data=st.data())
def test_any_way_to_write_a_number_is_that_number(number: int, parts: int, data: st.DataObject) -> None:
    front = [number >> 8 * (3 - place) & 255 for place in range(parts - 1)]
    numbers = [*front, number & 256 ** (5 - parts) - 1]
    forms = data.draw(st.lists(st.sampled_from(["{}", "0x{:x}", "0X{:X}", "0{:o}"]), min_size=parts, max_size=parts))
    spelling = ".".join(form.format(one) for form, one in zip(forms, numbers, strict=True))
    assert parse_url(f"http://{spelling}/").address == ip_address(number)


@settings(deadline=None)
@given(st.text())
def test_any_text_is_an_address_or_refused(text: str) -> None:
    try:
        url = parse_url(f"http://{text}")
    except ToolError:
        return
    assert parse_url(str(url)) == url


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("HTTPS://Example.COM", "https://example.com/"),
        ("http://example.com:80/a#part", "http://example.com/a"),
        ("https://example.com:8443/?q=a b", "https://example.com:8443/?q=a%20b"),
        ("https://b\u00fccher.example/\u00e4", "https://xn--bcher-kva.example/%C3%A4"),
        ("http://[0:0::1]:81/", "http://[::1]:81/"),
        ("http://user:pass@example.com/", "http://example.com/"),
        ("  http://example.com/a%2Fb?x=%20  ", "http://example.com/a%2Fb?x=%20"),
    ],
)
def test_an_address_is_read_into_one_form(text: str, read: str) -> None:
    assert str(parse_url(text)) == read


@pytest.mark.parametrize(
    "rest", ["h\uff0fx/", "[::1/", "h:port/", "h:99999/", "a b/", "h\\x", "", "[::1]x/", f"h/{'x' * LONGEST}"]
)
@pytest.mark.parametrize("scheme", ["http", "https", "ftp"])
def test_no_password_is_shown_whatever_is_wrong_with_the_address(scheme: str, rest: str) -> None:
    with pytest.raises(ToolError) as raised:
        parse_url(f"{scheme}://name:secret@{rest}")
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ftp://example.com/", "http:// or https://"),
        ("file:///etc/passwd", "http:// or https://"),
        ("example.com", "http:// or https://"),
        ("http://", "no host"),
        ("http://a b/", "no host"),
        ("http://300.1.1.1/", "no host"),
        ("http://1.2.3.4.5/", "no host"),
        ("http://a..b/", "no host"),
        (f"http://{'a' * 64}.com/", "no host"),
        ("http://[::1/", "not a web address"),
        ("http://a:99999/", "not a web address"),
        ("http://good\\@bad/", "backslash"),
        ("http://a/\r\nHost: b", "control character"),
        (f"http://a/{'x' * LONGEST}", "characters"),
    ],
)
def test_what_is_no_address_is_said(text: str, said: str) -> None:
    with pytest.raises(ToolError, match=said) as raised:
        parse_url(text)
    assert raised.value.kind == "schema"
