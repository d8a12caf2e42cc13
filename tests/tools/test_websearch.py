"""websearch and codesearch, against scripted endpoints on loopback."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.web.site import Reader, Site, Visit, make_reader, serving
from toolwright.testing import make_workspace
from toolwright.tools.websearch import NOTHING

QUERY = "asyncio timeout"


def result_of(*texts: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text} for text in texts]
    return {"jsonrpc": "2.0", "id": 1, "result": {"content": content, **more}}


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with serving() as made:
        yield made


def searching(project: Path, site: Site, **settings: Any) -> Reader:
    return make_reader(project, config={"search": {"url": f"{site.url}/mcp", **settings}})


@pytest.fixture
async def reader(project: Path, site: Site) -> AsyncIterator[Reader]:
    made = searching(project, site)
    yield made
    await made.workspace.close()


def stream(*messages: Any, newline: str = "\n") -> str:
    events = (f"event: message{newline}data: {json.dumps(message)}{newline}{newline}" for message in messages)
    return "".join(events)


async def test_the_request_is_the_one_the_services_know(project: Path, site: Site) -> None:
    reader = searching(project, site, headers={"x-api-key": "secret"})
    site.page("/mcp", json.dumps(result_of("Found.")), "application/json")
    result = await reader.call("websearch", query=QUERY)
    assert (result.output, result.title) == ("Found.", f"Web search: {QUERY}")
    [visit] = site.visits
    assert visit.method == "POST"
    assert visit.headers["accept"] == "application/json, text/event-stream"
    assert visit.headers["content-type"] == "application/json"
    assert visit.headers["x-api-key"] == "secret"
    assert json.loads(visit.body) == {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "web_search_exa",
            "arguments": {"query": QUERY, "type": "auto", "numResults": 8, "livecrawl": "fallback"},
        },
    }
    await reader.workspace.close()


async def test_arguments_are_handed_on(reader: Reader, site: Site) -> None:
    site.page("/mcp", json.dumps(result_of("Found.")), "application/json")
    more = {"numResults": 3, "livecrawl": "preferred", "type": "deep", "contextMaxCharacters": 900}
    await reader.call("websearch", query=QUERY, **more)
    assert json.loads(site.visits[0].body)["params"]["arguments"] == {"query": QUERY, **more}


async def test_code_is_searched_for(reader: Reader, site: Site) -> None:
    site.page("/mcp", json.dumps(result_of("def f(): ...")), "application/json")
    result = await reader.call("codesearch", query=QUERY, tokensNum=2000)
    assert (result.output, result.title) == ("def f(): ...", f"Code search: {QUERY}")
    assert json.loads(site.visits[0].body)["params"] == {
        "name": "get_code_context_exa",
        "arguments": {"query": QUERY, "tokensNum": 2000},
    }


@pytest.mark.parametrize("tokens", [999, 50_001])
async def test_the_length_of_an_answer_has_bounds(reader: Reader, site: Site, tokens: int) -> None:
    result = await reader.call("codesearch", query=QUERY, tokensNum=tokens)
    assert result.error is not None
    assert result.error.kind == "schema"
    assert site.visits == []


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (json.dumps(result_of("Found.")), "application/json"),
        (json.dumps(result_of("Found.")), "application/json; charset=utf-8"),
        (stream(result_of("Found.")), "text/event-stream"),
        (stream(result_of("Found."), newline="\r\n"), "text/event-stream; charset=utf-8"),
        (stream(result_of("Found.")).rstrip() + "\n", "text/event-stream"),
        (stream(result_of("Found.")).rstrip(), "Text/Event-Stream"),
        ("\ufeff" + json.dumps(result_of("Found.")), "application/json"),
        (json.dumps([{"jsonrpc": "2.0", "method": "notifications/progress"}, result_of("Found.")]), "application/json"),
        (f": hello\n\ndata: not json\n\n{stream(result_of('Found.'))}", "text/event-stream"),
        (stream({"jsonrpc": "2.0", "method": "notifications/progress"}, result_of("Found.")), "text/event-stream"),
    ],
)
async def test_json_and_events_are_both_understood(reader: Reader, site: Site, body: str, kind: str) -> None:
    site.page("/mcp", body, kind)
    assert (await reader.call("websearch", query=QUERY)).output == "Found."


async def test_a_stream_need_not_end(reader: Reader, site: Site) -> None:
    async def hold(visit: Visit) -> None:
        await visit.begin(content_type="text/event-stream", transfer_encoding="chunked")
        await visit.chunk(stream(result_of("Found.")).encode())
        await asyncio.Event().wait()

    site.handle("/mcp", hold)
    assert (await reader.call("websearch", query=QUERY)).output == "Found."


async def test_all_texts_of_an_answer_are_shown(reader: Reader, site: Site) -> None:
    site.page("/mcp", json.dumps(result_of("One.", "", "Two.")), "application/json")
    assert (await reader.call("websearch", query=QUERY)).output == "One.\n\nTwo."


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        ({"content": [{"type": "resource", "resource": {"uri": "a:b", "text": "Inside."}}]}, "Inside."),
        ({"content": [], "structuredContent": {"hits": ["é"]}}, '{\n "hits": [\n  "é"\n ]\n}'),
        ({"content": [{"type": "text", "text": "Once."}], "structuredContent": {"hits": ["Once."]}}, "Once."),
    ],
)
async def test_answers_may_have_other_forms_than_text(reader: Reader, site: Site, result: Any, shown: str) -> None:
    site.page("/mcp", json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}), "application/json")
    assert (await reader.call("websearch", query=QUERY)).output == shown


@pytest.mark.parametrize("texts", [(), ("",), ("  \n",)])
async def test_nothing_found_is_no_error(reader: Reader, site: Site, texts: tuple[str, ...]) -> None:
    site.page("/mcp", json.dumps(result_of(*texts)), "application/json")
    result = await reader.call("websearch", query=QUERY)
    assert (result.output, result.error) == (NOTHING, None)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (json.dumps({"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no such tool"}}), "no such tool"),
        (json.dumps(result_of("quota used up", isError=True)), "quota used up"),
        (json.dumps({"jsonrpc": "2.0", "id": 1}), "neither a result nor an error"),
        ("<html>hello</html>", "JSON"),
        ("[" * 100_000, "JSON"),
        ("", "JSON"),
    ],
)
async def test_an_error_of_the_service_is_told(reader: Reader, site: Site, body: str, said: str) -> None:
    site.page("/mcp", body, "application/json")
    result = await reader.call("websearch", query=QUERY)
    assert result.error is not None
    assert result.error.kind == "network"
    assert said in result.output


async def test_an_error_in_a_stream_is_told(reader: Reader, site: Site) -> None:
    site.page("/mcp", stream({"jsonrpc": "2.0", "id": 1, "error": {"message": "broken"}}), "text/event-stream")
    assert "broken" in (await reader.call("websearch", query=QUERY)).output


async def test_a_status_is_told_and_no_header_of_ours(project: Path, site: Site) -> None:
    reader = searching(project, site, headers={"authorization": "Bearer secret"})
    site.page("/mcp", "too many requests", "text/plain", status="429 Slow Down")
    result = await reader.call("websearch", query=QUERY)
    assert result.error is not None
    assert result.error.kind == "network"
    assert "429 Slow Down. too many requests" in result.output
    assert "secret" not in result.output
    await reader.workspace.close()


async def test_a_header_that_cannot_be_sent_is_not_shown(project: Path, site: Site) -> None:
    reader = searching(project, site, headers={"authorization": "Bearer secret\n"})
    result = await reader.call("websearch", query=QUERY)
    assert result.error is not None
    assert "secret" not in result.output
    await reader.workspace.close()


async def test_a_redirect_is_not_followed_with_the_headers(reader: Reader, site: Site) -> None:
    site.redirect("/mcp", "/elsewhere")
    assert (await reader.call("websearch", query=QUERY)).error is not None
    assert site.paths == ["/mcp"]


@pytest.mark.parametrize("begun", [False, True])
async def test_a_service_that_does_not_answer_is_left(project: Path, site: Site, begun: bool) -> None:
    async def never_end(visit: Visit) -> None:
        if begun:
            await visit.begin(content_type="text/event-stream", transfer_encoding="chunked")
        await asyncio.Event().wait()

    reader = searching(project, site, timeout=200)
    site.handle("/mcp", never_end)
    result = await reader.call("websearch", query=QUERY)
    assert result.error is not None
    assert result.error.kind == "timeout"
    await reader.workspace.close()


async def test_an_endless_answer_is_left(reader: Reader, site: Site) -> None:
    async def pour(visit: Visit) -> None:
        await visit.begin(content_type="text/event-stream", transfer_encoding="chunked")
        while True:
            await visit.chunk(b": keep alive\n\n" * 5000)

    site.handle("/mcp", pour)
    result = await reader.call("websearch", query=QUERY)
    assert result.error is not None
    assert result.error.kind == "too_large"


async def test_a_search_is_asked_for_by_its_words(project: Path, site: Site) -> None:
    reader = make_reader(project, config={"search": {"url": site.url}, "permission": {"websearch": "ask"}})
    result = await reader.call("websearch", query=QUERY)
    assert result.error is not None
    assert result.error.kind == "rejected"
    [question] = reader.user.questions
    assert (question.permission, question.patterns, question.always) == ("websearch", (QUERY,), ("*",))
    assert site.visits == []
    await reader.workspace.close()


async def test_an_endpoint_that_keeps_sessions_is_introduced_to(reader: Reader, site: Site) -> None:
    opened = 0

    async def strict(visit: Visit) -> None:
        nonlocal opened
        message = json.loads(visit.body)
        if message["method"] == "initialize":
            opened += 1
            answer = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-06-18"}})
            await visit.answer(answer.encode(), content_type="application/json", mcp_session_id=f"s{opened}")
        elif visit.headers.get("mcp-session-id") != f"s{opened}":
            await visit.answer(b"no session", status="400 Bad Request" if opened == 0 else "404 Not Found")
        elif "id" not in message:
            await visit.answer(status="202 Accepted")
        else:
            await visit.answer(json.dumps(result_of("Found.")).encode(), content_type="application/json")

    site.handle("/mcp", strict)
    assert (await reader.call("websearch", query=QUERY)).output == "Found."
    assert (await reader.call("codesearch", query=QUERY)).output == "Found."
    methods = [json.loads(visit.body)["method"] for visit in site.visits]
    assert methods == ["tools/call", "initialize", "notifications/initialized", "tools/call", "tools/call"]
    opened = 5  # the server has forgotten the session
    assert (await reader.call("websearch", query=QUERY)).output == "Found."


async def test_a_refusal_that_has_nothing_to_do_with_sessions_stands(reader: Reader, site: Site) -> None:
    async def refuse(visit: Visit) -> None:
        first = json.loads(visit.body)["method"] == "tools/call"
        await visit.answer(b"bad words" if first else b"never heard", status="400 Bad Request")

    site.handle("/mcp", refuse)
    result = await reader.call("websearch", query=QUERY)
    assert result.error is not None
    assert "bad words" in result.output


# SearXNG


async def test_a_searxng_server_is_asked_in_its_own_way(project: Path, site: Site) -> None:
    reader = make_reader(project, config={"search": {"url": f"{site.url}/sx/", "backend": "searxng"}})
    found = [{"title": f"Page {n}", "url": f"https://x.example/{n}", "content": f"About {n}."} for n in range(20)]
    site.page("/sx/search", json.dumps({"query": "a b&c", "results": found}), "application/json")
    result = await reader.call("websearch", query="a b&c", numResults=2)
    assert result.output == (
        "1. Page 0\n   https://x.example/0\n   About 0.\n\n2. Page 1\n   https://x.example/1\n   About 1."
    )
    assert site.paths == ["/sx/search?q=a+b%26c&format=json"]
    refused = await reader.call("codesearch", query="x")
    assert refused.error is not None
    await reader.workspace.close()


@pytest.mark.parametrize(
    ("body", "status", "output"),
    [
        ('{"results": []}', "200 OK", NOTHING),
        ('{"results": [{"url": "https://x.example/", "title": null}]}', "200 OK", "1. https://x.example/"),
        ("Forbidden", "403 Forbidden", "403 Forbidden. Forbidden Its settings must allow json among its formats."),
        ("Slowly", "429 Too Many Requests", "429 Too Many Requests. Slowly"),
        ('{"results": [{"url": "u", "title": "T", "content": "a\\n  b"}]}', "200 OK", "1. T\n   u\n   a b"),
        ("<html></html>", "200 OK", "JSON"),
        ("{}", "200 OK", "Is it a SearXNG server?"),
    ],
)
async def test_what_a_searxng_server_may_answer(project: Path, site: Site, body: str, status: str, output: str) -> None:
    reader = make_reader(project, config={"search": {"url": site.url, "backend": "searxng"}})
    site.page("/search", body, "application/json", status=status)
    assert output in (await reader.call("websearch", query=QUERY)).output
    await reader.workspace.close()


# When they are offered


@pytest.mark.parametrize(
    ("config", "environment", "offered"),
    [
        ({}, {}, []),
        ({"search": {"url": "http://127.0.0.1:9/"}}, {}, ["websearch", "codesearch"]),
        ({"search": {"url": "http://127.0.0.1:9/", "backend": "searxng"}}, {}, ["websearch"]),
        ({}, {"TOOLWRIGHT_SEARCH_URL": "http://127.0.0.1:9/"}, ["websearch", "codesearch"]),
        ({}, {"OPENCODE_ENABLE_EXA": "1"}, ["websearch", "codesearch"]),
    ],
)
async def test_they_are_offered_where_there_is_somebody_to_ask(
    project: Path, config: dict[str, Any], environment: dict[str, str], offered: list[str]
) -> None:
    workspace = make_workspace(project, config=config, environment=environment)
    assert [tool for tool in workspace.session().offered() if tool.endswith("search")] == offered
    await workspace.close()


@pytest.mark.parametrize("trust", [False, True])
async def test_searches_go_where_a_project_wants_only_once_it_is_trusted(
    project: Path, site: Site, trust: bool
) -> None:
    (project / "toolwright.json").write_text(json.dumps({"search": {"url": f"{site.url}/mcp"}}))
    workspace = make_workspace(project, trust=trust)
    assert ("websearch" in workspace.session().offered()) == trust
    await workspace.close()


async def test_the_variable_names_the_endpoint(project: Path, site: Site) -> None:
    site.page("/there", json.dumps(result_of("Found.")), "application/json")
    workspace = make_workspace(project, environment={"TOOLWRIGHT_SEARCH_URL": f"{site.url}/there"})
    assert (await workspace.call("websearch", query=QUERY)).output == "Found."
    await workspace.close()
