"""A language server that behaves as its first argument says; every start is noted in the file of the second.

A line with BAD has an error. `BREAK name` puts an error into the file of that name beside it. `def NAME` defines, every
other word NAME refers to it.
"""

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

MODE, NOTES = sys.argv[1], Path(sys.argv[2])
documents: dict[str, tuple[int, str]] = {}


def send(**message: object) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    sys.stdout.buffer.flush()


def receive() -> dict[str, Any] | None:
    length = 0
    while line := sys.stdin.buffer.readline():
        if not line.strip():
            message: dict[str, Any] = json.loads(sys.stdin.buffer.read(length))
            return message
        name, _, value = line.partition(b":")
        length = int(value) if name.lower() == b"content-length" else length
    return None


def note(text: str) -> None:
    with NOTES.open("a") as file:
        file.write(f"{text}\n")


def error(line: int, text: str) -> dict[str, Any]:
    place = {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 1}}
    return {"range": place, "severity": 1, "message": text}


def errors(text: str) -> list[Any]:
    found = [error(number, f"bad: {line}") for number, line in enumerate(text.splitlines()) if "BAD" in line]
    return [*found, {**error(0, "only a warning"), "severity": 2}]


def publish(uri: str, version: object, found: list[Any]) -> None:
    params = {"uri": uri, "diagnostics": found} | ({} if version is None else {"version": version})
    send(method="textDocument/publishDiagnostics", params=params)


def changed(uri: str, version: int, text: str) -> None:
    before = documents.get(uri)
    documents[uri] = (version, text)
    note(f"text {version}")
    if MODE == "dies":
        sys.exit("error: it is broken")
    if MODE in ("silent", "pulls"):
        return
    if MODE == "floods":
        sys.stdout.write("noise\n" * 1000)
        for number in range(1500):
            publish(f"file:///nowhere/{number}", None, errors("BAD"))
    if MODE == "late":
        publish(uri, version - 1, errors(before[1] if before else "BAD of the version before"))
    for name in re.findall(r"BREAK (\S+)", text):
        publish(f"{uri.rpartition('/')[0]}/{name}", None, [error(0, "broken from elsewhere")])
    told = {"unversioned": None, "lies": 999}.get(MODE, version)
    publish(uri, told, errors(text))


def occurrences(name: str) -> list[Any]:
    found = []
    for uri in documents:
        folder = Path(uri.removeprefix("file://")).parent
        for path in sorted(folder.glob("*.scr")):
            for number, line in enumerate(path.read_text().splitlines()):
                for match in re.finditer(rf"\b{name}\b", line):
                    units = len(line[: match.start()].encode("utf-16-le")) // 2
                    place = {"line": number, "character": units}
                    end = {"line": number, "character": units + len(name)}
                    found.append((f"file://{path}", {"start": place, "end": end}, line))
    return list({json.dumps(one[:2]): one for one in found}.values())


def word_at(params: dict[str, Any]) -> str:
    line = documents[params["textDocument"]["uri"]][1].splitlines()[params["position"]["line"]]
    units = params["position"]["character"]
    index = len(line.encode("utf-16-le")[: 2 * units].decode("utf-16-le"))
    return next((m[0] for m in re.finditer(r"\w+", line) if m.start() <= index <= m.end()), "")


def symbols(text: str) -> list[Any]:
    """Each `def` takes the lines until the next one; one that is set in is part of the one before it."""
    lines, found = text.splitlines(), list[Any]()
    starts = [number for number, line in enumerate(lines) if line.lstrip().startswith("def ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        name = lines[start].split()[1]
        place = {"line": start, "character": lines[start].index(name)}
        whole = {"start": {"line": start, "character": 0}, "end": {"line": end, "character": 0}}
        one = {"name": name, "kind": 12, "range": whole, "selectionRange": {"start": place, "end": place}}
        if lines[start].startswith(" ") and found:
            found[-1]["range"]["end"] = whole["end"]
            found[-1].setdefault("children", []).append(one)
        else:
            found.append(one)
    return found


def answer(method: str, params: dict[str, Any]) -> object:
    if MODE == "finds nothing":
        return None
    if method == "textDocument/prepareRename":
        return {"defaultBehavior": True} if any("def" in line for _, _, line in occurrences(word_at(params))) else None
    if method == "textDocument/diagnostic":
        return {"kind": "full", "items": errors(documents[params["textDocument"]["uri"]][1])}
    if method == "textDocument/definition":
        return [{"uri": u, "range": r} for u, r, line in occurrences(word_at(params)) if line.startswith("def ")]
    if method == "textDocument/references":
        return [{"uri": u, "range": r} for u, r, _ in occurrences(word_at(params))]
    if method == "workspace/executeCommand":
        edit = {"changes": {params["arguments"][0]: [{"range": error(0, "")["range"], "newText": "RAN "}]}}
        send(id="edit-1", method="workspace/applyEdit", params={"edit": edit})
        receive()
        return None
    if method == "textDocument/documentSymbol" and "NONSENSE" in documents[params["textDocument"]["uri"]][1]:
        return [{"name": 5, "range": {"start": "here"}}]
    if method == "textDocument/hover":
        return {"contents": {"kind": "plaintext", "value": f"the word {word_at(params)}"}}
    if method == "textDocument/documentSymbol":
        return symbols(documents[params["textDocument"]["uri"]][1])
    if method == "textDocument/rename":
        changes: dict[str, Any] = {}
        for uri, place, _ in occurrences(word_at(params)):
            changes.setdefault(uri, []).append({"range": place, "newText": params["newName"]})
        return {
            "documentChanges": [{"textDocument": {"uri": u, "version": None}, "edits": e} for u, e in changes.items()]
        }
    if method == "textDocument/codeAction":
        edit = {"changes": {params["textDocument"]["uri"]: [{"range": params["range"], "newText": "GOOD "}]}}
        return [
            {"title": f"Fix {len(params['context']['diagnostics'])} errors", "edit": edit},
            {"title": "By command", "command": {"command": "run", "arguments": [params["textDocument"]["uri"]]}},
        ]
    return None


def main() -> None:
    note(f"pid {os.getpid()}")
    provider = {"interFileDependencies": False, "workspaceDiagnostics": False} if MODE == "pulls" else None
    offers = ["definition", "references", "hover", "documentSymbol", "rename", "codeAction"]
    while message := receive():
        method, params = message.get("method", ""), message.get("params") or {}
        if method == "initialize":
            if MODE == "mute":
                continue
            capabilities: dict[str, Any] = {f"{name}Provider": True for name in offers} | {"textDocumentSync": 1}
            capabilities |= {"diagnosticProvider": provider} if provider else {}
            capabilities |= {"renameProvider": {"prepareProvider": True}} if MODE == "prepares" else {}
            send(id=message["id"], result={"capabilities": capabilities})
        elif method == "textDocument/didOpen":
            item = params["textDocument"]
            changed(item["uri"], item["version"], item["text"])
        elif method == "textDocument/didChange":
            item = params["textDocument"]
            changed(item["uri"], item["version"], params["contentChanges"][0]["text"])
        elif method == "exit":
            note("exit")
            return
        elif MODE == "fails" and method.startswith("textDocument/") and "id" in message:
            send(id=message["id"], error={"code": -32603, "message": "I do not feel well"})
        elif method.startswith("callHierarchy/") or method == "textDocument/prepareCallHierarchy":
            send(id=message["id"], error={"code": -32601, "message": "no such method"})
        elif "id" in message and "method" in message:
            send(id=message["id"], result=answer(method, params))
    if MODE == "lingers":
        time.sleep(1000)


main()
