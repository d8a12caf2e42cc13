"""An MCP server on the standard library alone, with as many bad habits as its arguments name."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

HABITS = set(sys.argv[1:])
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
ECHO = {"name": "echo", "description": "Says it again.", "inputSchema": SCHEMA}
PLAIN = {"type": "object", "properties": {}}
IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
FORM = {
    "message": "Which colour?",
    "requestedSchema": {"type": "object", "properties": {"colour": {"type": "string", "enum": ["red", "blue"]}}},
}
WHO = {"type": "string", "title": "Who", "default": "Ada"}
FULL = {
    "who": WHO,
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "state": {"type": "string", "oneOf": [{"const": "on", "title": "Lit"}, {"const": "off"}], "default": "on"},
    "sure": {"type": "boolean", "default": True},
    "kinds": {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}, "default": ["a", "c"]},
    "note": {"type": "string"},
}
if "defaults" in HABITS:
    FORM = {"message": "Is this right?", "requestedSchema": {"type": "object", "properties": FULL}}
if "half defaults" in HABITS:
    FORM = {"message": "Who?", "requestedSchema": {"type": "object", "properties": FULL, "required": ["note"]}}
if "wrong defaults" in HABITS:
    KINDS = {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "default": ["a", "z"]}
    FORM = {"message": "Which?", "requestedSchema": {"type": "object", "properties": {"kinds": KINDS}}}
if "empty defaults" in HABITS:
    WHO = {"type": "string", "title": "Who", "default": ""}
    FORM = {"message": "Who?", "requestedSchema": {"type": "object", "properties": {"who": WHO}}}
for habit in HABITS:
    if habit.endswith(" fields"):
        MANY = {f"f{number}": WHO for number in range(int(habit.split()[0]))}
        FORM = {"message": "All?", "requestedSchema": {"type": "object", "properties": MANY}}
lock = threading.Lock()
answers: dict[Any, threading.Event] = {}
said: dict[Any, Any] = {}
grown = False


def send(message: dict[str, Any]) -> None:
    with lock:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def tools() -> list[Any]:
    listed: list[Any] = [ECHO]
    if "described" in HABITS:
        listed = [{**ECHO, "description": Path("described.txt").read_text()}]
    plain = ("fail", "rich", "env", "wait", "die", "die_with_a_child", "ask", "grow")
    listed += [{"name": name, "inputSchema": PLAIN} for name in plain]
    if "hints" in HABITS:
        hints = {
            "look": {"readOnlyHint": True},
            "note": {"destructiveHint": False, "openWorldHint": False},
            "post": {"destructiveHint": False},
            "wipe": {"destructiveHint": True},
            "silent": {},
        }
        listed += [{"name": name, "inputSchema": PLAIN, "annotations": one} for name, one in hints.items()]
    if "tasks" in HABITS:
        listed.append({"name": "slow", "inputSchema": PLAIN, "execution": {"taskSupport": "required"}})
    if "lies" in HABITS:
        listed += [
            {"name": "bad", "inputSchema": {"type": "object", "required": "text"}},
            {"name": "worse", "inputSchema": "none"},
            {"inputSchema": PLAIN},
            7,
        ]
    either = {
        "type": "object",
        "properties": {"text": {"type": ["string", "null"], "description": "Either."}, "any": True},
    }
    listed.append({"name": "either", "inputSchema": either})
    if grown:
        listed.append({"name": "late", "inputSchema": PLAIN})
    if "many" in HABITS:
        text = "Counts what there is to be counted. " * 50
        listed += [{"name": f"count_{n}", "description": text, "inputSchema": PLAIN} for n in range(200)]
    return listed


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value}], **more}


def call(request: dict[str, Any]) -> None:
    global grown
    params = request["params"]
    name, meta = params["name"], params.get("_meta", {})
    result: dict[str, Any] = {}
    match name:
        case "echo":
            result = text(params["arguments"]["text"])
        case "either":
            result = text(json.dumps(params["arguments"]))
        case "fail":
            result = text("It did not work.", isError=True)
        case "rich":
            result = {
                "content": [
                    {"type": "text", "text": "An image:"},
                    {"type": "image", "data": IMAGE, "mimeType": "image/png"},
                    {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
                    {"type": "resource", "resource": {"uri": "x://blob", "blob": "AAAA", "mimeType": "x/y"}},
                    {"type": "new", "data": 1},
                ],
                "structuredContent": {"answer": 42},
            }
        case "env":
            result = text(json.dumps(dict(os.environ)))
        case "wait":
            if "progressToken" in meta:
                about = {"progressToken": meta["progressToken"], "progress": 1, "total": 2, "message": "half way"}
                send({"method": "notifications/progress", "params": about})
            return
        case "die_with_a_child":
            subprocess.Popen(["sleep", "1000"])
            os._exit(3)
        case "die":
            sys.stderr.write("out of cheese\n")
            sys.stderr.flush()
            os._exit(3)
        case "ask":
            result = asked(request)
        case "grow" | "late":
            grown = True
            send({"method": "notifications/tools/list_changed"})
            result = text("grown")
    send({"id": request["id"], "result": result})


def asked(request: dict[str, Any]) -> dict[str, Any]:
    if "stateless" in HABITS:
        params = request["params"]
        if "inputResponses" not in params:
            wanted = {"q": {"method": "elicitation/create", "params": FORM}}
            return {"resultType": "input_required", "inputRequests": wanted, "requestState": "s"}
        assert params["requestState"] == "s"
        return text(json.dumps(params["inputResponses"]["q"]))
    answers["q1"] = threading.Event()
    send({"id": "q1", "method": "elicitation/create", "params": FORM})
    answers["q1"].wait()
    return text(json.dumps(said["q1"]))


def answer(request: dict[str, Any]) -> None:
    method, params = request["method"], request.get("params", {})
    capabilities = {"tools": {"listChanged": True}, "prompts": {}, "resources": {}}
    if "stateless" in HABITS and method == "initialize":
        send({"id": request["id"], "error": {"code": -32601, "message": "no handshake"}})
    elif method == "initialize":
        version = {"protocolVersion": params["protocolVersion"], "serverInfo": {"name": "s", "version": "1"}}
        send({"id": request["id"], "result": version | {"capabilities": capabilities, "instructions": "Be brief."}})
    elif method == "server/discover" and "stateless" in HABITS:
        assert params["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
        found = {
            "supportedVersions": ["1999-01-01" if "of another age" in HABITS else "2026-07-28"],
            "capabilities": capabilities,
            "resultType": "complete",
        }
        send({"id": request["id"], "result": found})
    elif method == "tools/list":
        listed = tools()
        first = "cursor" not in params
        page = {"tools": listed[:2], "nextCursor": "more"} if first else {"tools": listed[2:]}
        send({"id": request["id"], "result": page})
    elif method == "prompts/list":
        arguments = [{"name": "who", "required": True}, {"name": "how"}]
        send({"id": request["id"], "result": {"prompts": [{"name": "greet", "arguments": arguments}]}})
    elif method == "prompts/get":
        content = {"type": "text", "text": f"Greet {params['arguments'].get('who')}."}
        send({"id": request["id"], "result": {"messages": [{"role": "user", "content": content}]}})
    elif method == "resources/list":
        send({"id": request["id"], "result": {"resources": [{"uri": "x://notes", "name": "notes"}]}})
    elif method == "resources/read":
        contents = [{"uri": params["uri"], "text": "Remember the milk."}]
        send({"id": request["id"], "result": {"contents": contents}})
    elif method == "tools/call":
        threading.Thread(target=call, args=(request,), daemon=True).start()
    elif method == "subscriptions/listen":
        return
    else:
        send({"id": request["id"], "error": {"code": -32601, "message": f"no {method}"}})


def main() -> None:
    if "dead" in HABITS:
        sys.stderr.write("warming up\nthe licence has run out\n\n")
        sys.exit(7)
    if "hangs" in HABITS:
        sys.stderr.write("still thinking\n")
        sys.stderr.flush()
    if "floods" in HABITS:
        noise = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "x" * 1000}}
        for _ in range(20000):
            sys.stdout.write(json.dumps(noise) + "\n")
            sys.stderr.write("y" * 100 + "\n")
    if "endless" in HABITS:
        while True:
            sys.stdout.write("z" * 1_000_000)
    if "chatty" in HABITS:
        sys.stdout.write("Welcome to the server!\n")
    for line in sys.stdin:
        message = json.loads(line)
        if "hangs" in HABITS:
            continue
        if "method" not in message:
            said[message["id"]] = message.get("result", message.get("error"))
            answers[message["id"]].set()
        elif "id" in message:
            answer(message)


main()
