"""Every route with input nobody would send on purpose: refused in one form, and nothing breaks."""

import json
import os
import random
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.server.harness import served
from toolwright.server.routes.all import TABLE

STREAMS = ("/event", "/global/event", "/tw/event", "/tui/control/next")
ODD = (
    *(
        "",
        " ",
        "..",
        "../..",
        "\0",
        "x" * 5000,
        "é",
        "\ud800",
        "*",
        "'",
        "<b>",
        "\\",
        "//",
        "-1",
        "1e400",
        "NaN",
        "true",
    ),
    *(
        "/etc/passwd",
        "a.py",
        ".",
        "loop",
        "[",
        "(",
        "ses_1",
        "msg_1",
        "prt_1",
        "per_1",
        "data:,x",
        "file:///etc/passwd",
    ),
)
QUERY = (
    *("directory", "limit", "start", "search", "roots", "query", "path", "pattern", "type", "messageID", "call"),
    *("request", "args", "tool", "argument", "agent", "permission", "provider", "model", "location[directory]"),
)


class Input:
    """Requests that fit a route's schema by and large."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def value(self, depth: int = 0) -> Any:
        kinds: tuple[Any, ...] = (None, True, 0, -1, 2**63, 1.5, *ODD)
        if depth < 3 and self.random.random() < 0.3:
            return self.random.choice([[self.value(depth + 1)], {"parts": self.value(depth + 1)}])
        return self.random.choice(kinds)

    def fitting(self, schema: Any) -> Any:
        if not isinstance(schema, dict) or self.random.random() < 0.1:
            return self.value()
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        kind = schema.get("type")
        match self.random.choice(kind) if isinstance(kind, list) else kind:
            case "string":
                return self.random.choice(ODD)
            case "boolean":
                return self.random.random() < 0.5
            case "array":
                return [self.fitting(schema.get("items")) for _ in range(self.random.randrange(3))]
            case "object":
                known = schema.get("properties", {})
                wanted = [one for one in known if one in schema.get("required", ()) or self.random.random() < 0.6]
                return {one: self.fitting(known[one]) for one in wanted}
            case _:
                return self.value()

    def address(self, path: str, real: dict[str, str]) -> str:
        def named(found: re.Match[str]) -> str:
            given = real.get(found[1], "") if self.random.random() < 0.7 else ""
            return _quoted(given or self.random.choice(ODD)) or "-"

        names = self.random.sample(QUERY, self.random.randrange(4))
        query = "&".join(f"{_quoted(name)}={_quoted(self.random.choice(ODD))}" for name in names)
        where = re.sub(r"{(\w+)}", named, path)
        return f"{where}?{query}" if query else where


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="surrogatepass")


@pytest.mark.slow
async def test_no_route_breaks_over_odd_input(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "a.py").write_text("print(1)\n")
    (folder / "loop").symlink_to("loop")
    os.mkfifo(folder / "pipe")
    made = Input(5)
    async with served(folder, {"text": "Yes.", "repeat": True}) as server:
        for route in TABLE.routes:
            if route.path in STREAMS:
                continue
            session = await server.session()
            answer = await server.say(session, "hi")
            real = {"sessionID": session, "messageID": answer["info"]["id"], "partID": answer["parts"][0]["id"]}
            for _ in range(4):
                body = {"content-type": "application/json"}
                content = json.dumps(made.fitting(route.body)).encode() if route.method != "GET" else b""
                where = made.address(route.path, real)
                answered = await server.client.request(
                    route.method, where, content=content, headers=body if content else {}
                )
                assert answered.status_code < 500, f"{route.method} {where} {content[:500]!r} {answered.text}"
                if answered.status_code >= 400:
                    refusal = answered.json()
                    assert refusal["name"]
                    assert refusal["data"]["message"], where


async def test_a_link_that_leads_in_a_circle_is_no_reason_to_list_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "a.py").write_text("x")
    (folder / "loop").symlink_to("loop")
    async with served(folder) as server:
        assert "a.py" in [one["name"] for one in await server.get("/file?path=.")]


async def test_a_pattern_that_would_take_for_ever_is_answered_without_places(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "a.txt").write_text("a" * 60 + "!\n")
    async with served(folder) as server:
        [found] = await server.get(f"/find?pattern={quote('(a+)+$|!')}")
        assert (found["line_number"], found["submatches"]) == (1, [])
        [found] = await server.get(f"/find?pattern={quote('a+!')}")
        assert [(one["start"], one["end"]) for one in found["submatches"]] == [(0, 61)]


async def test_settings_that_cannot_hold_are_refused_and_not_kept(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    async with served(folder) as server:
        assert (await server.send("PATCH", "/config", json={"username": "ann"}))["username"] == "ann"
        refused = await server.send("PATCH", "/config", 400, json={"permission": 7})
        assert "Nothing was written" in refused["data"]["message"]
        assert (await server.get("/config"))["username"] == "ann"
