"""The program that runs Python tools and plugins: it loads their files, in whatever environment it is started with.

Only the standard library is needed. Requests come as JSON lines on descriptor 4, answers leave on 3; what the files
print goes to stderr. `toolwright` itself can be imported in any environment, without the packages installed beside it.
"""

import asyncio
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import json
import os
import sys
import threading
import traceback
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

IN, OUT = 4, 3
Json = dict[str, Any]


class Failure(Exception):
    """An answer that is an error."""

    def __init__(self, message: str, **data: Any) -> None:
        super().__init__(message)
        self.data = data


class OneFinder(importlib.abc.MetaPathFinder):
    """Finds the package `toolwright`, and nothing that lies beside it."""

    def __init__(self, parent: str) -> None:
        self._parent = parent

    def find_spec(
        self,
        fullname: str,
        path: Any = None,  # noqa: ARG002 - the interface is Python's
        target: types.ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != "toolwright":
            return None
        return importlib.machinery.PathFinder.find_spec(fullname, [self._parent], target)


class Abort:
    """Whether the call is to stop."""

    def __init__(self) -> None:
        self.reason = ""

    @property
    def aborted(self) -> bool:
        return bool(self.reason)

    def raise_if_aborted(self) -> None:
        if self.reason:
            raise Failure(f"The call was stopped: {self.reason}.", kind="aborted")


class Context:
    """What a tool gets beside its arguments, under the names of Python and of JavaScript."""

    def __init__(self, wire: "Wire", said: Json) -> None:
        self._wire = wire
        self._call = said["callID"]
        self.session_id = self.sessionID = said.get("sessionID", "")
        self.message_id = self.messageID = said.get("messageID", "")
        self.call_id = self.callID = said["callID"]
        self.agent = said.get("agent", "")
        self.directory = Path(said.get("directory", "."))
        self.worktree = Path(said.get("worktree", "."))
        self.abort = Abort()

    async def ask(self, permission: Any, *patterns: str, always: Any = ("*",), **metadata: Any) -> None:
        """Return if the call may go on, raise otherwise. Takes one record with all of it as well."""
        if isinstance(permission, dict):
            request = dict(permission)
        else:
            request = {
                "permission": permission,
                "patterns": list(patterns),
                "always": list(always),
                "metadata": metadata,
            }
        await self._wire.request("ask", {"call": self._call, **request})

    async def ask_all(self, *requests: Any) -> None:
        for one in requests:
            await self.ask(one.permission, *one.patterns, always=one.always, **one.metadata)

    def metadata(self, title: Any = None, metadata: Any = None) -> None:
        """Show how the call is getting on."""
        if isinstance(title, dict) and metadata is None:
            title, metadata = title.get("title"), title.get("metadata")
        self._wire.notify("metadata", {"call": self._call, "title": title, "metadata": metadata or {}})

    async def call(self, tool: str, arguments: Json) -> Any:
        """Run another tool through the same door, for the same agent."""
        answer = await self._wire.request("call", {"call": self._call, "tool": tool, "arguments": arguments})
        return types.SimpleNamespace(**answer)


class Threads:
    """Runs plain functions beside the loop, and knows how many still do."""

    def __init__(self) -> None:
        self.running = 0

    async def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.to_thread(self._counted, function, *arguments)

    def _counted(self, function: Callable[..., Any], *arguments: Any) -> Any:
        self.running += 1
        try:
            return function(*arguments)
        finally:
            self.running -= 1


_threads = Threads()


class Wire:
    """Messages both ways, in any order."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._number = 0
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._working: dict[Any, tuple[asyncio.Task[None], list[Context]]] = {}
        self._lock = threading.Lock()
        self.files = Files()
        self.ended = asyncio.Event()

    async def run(self) -> None:
        reader = asyncio.StreamReader(limit=128 * 1024 * 1024)
        pipe = os.fdopen(IN, "rb", 0)
        await self.loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
        while line := await reader.readline():
            self._take(json.loads(line))
        self.ended.set()

    def _take(self, message: Json) -> None:
        if "method" not in message:
            self._answered(message)
        elif "id" in message:
            contexts: list[Context] = []
            task = self.loop.create_task(self._work(message, contexts))
            self._working[message["id"]] = (task, contexts)
        elif message["method"] == "cancel":
            task_and_contexts = self._working.get(message["params"]["id"])
            if task_and_contexts is not None:
                for context in task_and_contexts[1]:
                    context.abort.reason = "the turn was aborted"
                task_and_contexts[0].cancel()

    def _answered(self, message: Json) -> None:
        waiting = self._waiting.pop(message.get("id", -1), None)
        if waiting is None or waiting.done():
            return
        if (error := message.get("error")) is not None:
            waiting.set_exception(Failure(error["message"], **(error.get("data") or {})))
        else:
            waiting.set_result(message.get("result"))

    async def _work(self, message: Json, contexts: list[Context]) -> None:
        answer: Json = {"jsonrpc": "2.0", "id": message["id"]}
        params = message.get("params") or {}
        try:
            if message["method"] == "call":
                contexts.append(Context(self, params["context"]))
            work = getattr(self.files, message["method"])
            answer["result"] = await work(params, contexts[0] if contexts else self)
        except asyncio.CancelledError:
            answer["error"] = {"code": -32800, "message": "The call was stopped."}
        except Failure as error:
            answer["error"] = {"code": -32603, "message": str(error), "data": error.data}
        except BaseException as error:  # noqa: BLE001 - whatever a tool raises is its answer
            traceback.print_exc()
            data = {"kind": kind} if isinstance(kind := getattr(error, "kind", None), str) else {}
            answer["error"] = {"code": -32603, "message": _sentence(error), "data": data}
        finally:
            self._working.pop(message["id"], None)
        self._send(answer)

    @property
    def is_busy(self) -> bool:
        return len(self._working) > 1

    async def request(self, method: str, params: Json) -> Any:
        with self._lock:
            self._number += 1
            number = self._number
        if asyncio.get_running_loop() is not self.loop:
            # A tool that runs a loop of its own in a thread.
            there = asyncio.run_coroutine_threadsafe(self.request(method, params), self.loop)
            return await asyncio.wrap_future(there)
        waiting = self._waiting[number] = self.loop.create_future()
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return await waiting

    def notify(self, method: str, params: Json) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def _send(self, message: Json) -> None:
        try:
            data = json.dumps(message).encode() + b"\n"
        except (TypeError, ValueError) as error:
            text = f"What it returned is no JSON: {error}."
            data = json.dumps(
                {"jsonrpc": "2.0", "id": message.get("id"), "error": {"code": 1, "message": text}}
            ).encode()
            data += b"\n"
        with self._lock:
            view = memoryview(data)
            while view:
                view = view[os.write(OUT, view) :]


class Files:
    """The files that were loaded, and what they hold."""

    def __init__(self) -> None:
        self._tools: dict[str, dict[str, Any]] = {}
        self._plugins: dict[str, dict[str, Any]] = {}

    async def load(self, params: Json, _: Any) -> Json:
        """The tools of a file, as a model is told of them, and the files they were made from."""
        path = params["path"]
        tools = self._loaded(path)
        return {"tools": [_described(name, one) for name, one in tools.items()], "files": _own_modules(path)}

    async def call(self, params: Json, context: Context) -> Json:
        path, name = params["path"], params["name"]
        tools = self._plugins[path].get("tool", {}) if path in self._plugins else self._loaded(path)
        if name not in tools:
            raise Failure(f"{path} has no tool {name!r} any more.", kind="missing")
        return _result(await _run(tools[name], params["arguments"], context))

    async def plugin(self, params: Json, _: Any) -> Json:
        """Start a plugin; the names of its hooks and what tools it brings."""
        path = params["path"]
        module = _import(path) if path.endswith(".py") else _entry_point(path)
        start = getattr(module, "plugin", None) if isinstance(module, types.ModuleType) else module
        if not callable(start):
            raise Failure(f"{path}: expected a function plugin(host) that returns its hooks.")
        host = types.SimpleNamespace(
            directory=Path(params["directory"]),
            worktree=Path(params["worktree"]),
            options=params.get("options") or {},
        )
        hooks = start(host)
        if inspect.isawaitable(hooks):
            hooks = await hooks
        if not isinstance(hooks, dict):
            raise Failure(
                f"{path}: plugin(host) returned {type(hooks).__name__}, but a mapping from hooks is expected."
            )
        self._plugins[path] = hooks
        tools = {name: one for name, one in hooks.get("tool", {}).items() if _is_tool(one)}
        return {
            "hooks": [name for name, hook in hooks.items() if name == "tool" or callable(hook)],
            "tools": [_described(name, one) for name, one in tools.items()],
        }

    async def hook(self, params: Json, _: Any) -> Json:
        hook = self._plugins[params["path"]][params["name"]]
        output = params.get("output")
        arguments = (params["input"],) if params["name"] == "event" else (params["input"], output)
        answer = hook(*arguments) if inspect.iscoroutinefunction(hook) else await _threads.run(hook, *arguments)
        if inspect.isawaitable(answer):
            await answer
        return {"output": output}

    async def idle(self, _: Json, wire: "Wire") -> None:
        """Return once nothing else is under way, threads included."""
        while wire.is_busy or _threads.running:  # noqa: ASYNC110 - threads set no event
            await asyncio.sleep(0.005)

    def _loaded(self, path: str) -> dict[str, Any]:
        if path not in self._tools:
            module = _import(path)
            self._tools[path] = {
                name: value for name, value in vars(module).items() if _is_tool(value) and _belongs(value, module)
            }
        return self._tools[path]


def _import(path: str) -> types.ModuleType:
    """The module of a file; a Failure names the line that broke."""
    name = f"_toolwright_file_{abs(hash(path))}"
    for folder in (str(Path(path).parent), str(Path(path).parent.parent)):
        if folder not in sys.path:
            sys.path.insert(0, folder)
            _read_source_in(folder)
    spec = importlib.util.spec_from_file_location(name, path, loader=_FromSource(name, path))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        raise Failure(f"{path}:{_line_of(error, path)}: {_last_line(error)}") from error
    return module


class _FromSource(importlib.machinery.SourceFileLoader):
    """Loads what a file says. Bytecode beside it need not be that, and would change the project if we left it there."""

    def get_code(self, fullname: str) -> types.CodeType:  # noqa: ARG002 - as the protocol of importlib has it
        return self.source_to_code(self.get_data(self.path), self.path)


def _read_source_in(folder: str) -> None:
    """What is imported from a folder and below it comes from sources alone."""
    find = importlib.machinery.FileFinder.path_hook(
        (importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES),
        (_FromSource, importlib.machinery.SOURCE_SUFFIXES),
    )

    def hook(path: str) -> Any:
        if path != folder and not path.startswith(f"{folder}/"):
            raise ImportError
        return find(path)

    sys.path_hooks.insert(0, hook)
    sys.path_importer_cache.pop(folder, None)


def _entry_point(name: str) -> Any:
    from importlib.metadata import entry_points

    for one in entry_points(group="toolwright.plugins"):
        if one.name == name:
            return one.load()
    raise Failure(f"No installed package brings a plugin {name!r}.")


def _line_of(error: BaseException, path: str) -> int:
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno or 1
    frames = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return (frames[-1] if frames else 1) or 1


def _last_line(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]


def _sentence(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"The tool ended its process with code {error.code}."
    return str(error) or type(error).__name__


def _own_modules(path: str) -> list[str]:
    """The files beside a tool that are loaded by now: a change in one of them is a change of the tool."""
    folder = str(Path(path).parent.parent) + os.sep
    found = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    return sorted({file for file in found if file and file.startswith(folder) and "site-packages" not in file} | {path})


def _is_tool(value: Any) -> bool:
    if isinstance(value, type):
        return False
    get = _getter(value)
    if all(get(name) is not None for name in ("description", "args", "execute")):
        return callable(get("execute"))
    return type(value).__name__ == "Tool" and type(value).__module__ == "toolwright.definition"


def _belongs(value: Any, module: types.ModuleType) -> bool:
    """Whether a tool was made in this file, not imported into it."""
    function = getattr(value, "function", None)
    return function is None or function.__module__ == module.__name__


def _getter(value: Any) -> Callable[[str], Any]:
    return value.get if isinstance(value, dict) else lambda name: getattr(value, name, None)


def _described(name: str, value: Any) -> Json:
    get = _getter(value)
    if get("execute") is None:
        return {
            "name": name,
            "description": value.description,
            "parameters": value.parameters,
            "asks": bool(value.asks),
            "permission": "" if value.permission == value.id else value.permission,
        }
    properties = {key: dict(schema) for key, schema in get("args").items()}
    required = [key for key, schema in properties.items() if "default" not in schema]
    parameters = {"type": "object", "properties": properties, "required": required}
    return {
        "name": name,
        "description": str(get("description")),
        "parameters": parameters,
        "asks": "ask" in _names_in(get("execute")),
    }


def _names_in(function: Any) -> set[str]:
    """The names that a function's code uses, those of the functions inside of it too."""

    def names(code: types.CodeType) -> Iterator[str]:
        yield from code.co_names
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                yield from names(constant)

    code = getattr(inspect.unwrap(getattr(function, "__func__", function)), "__code__", None)
    return set(names(code)) if code is not None else set()


async def _run(tool: Any, arguments: Json, context: Context) -> Any:
    execute = _getter(tool)("execute")
    if execute is None:
        return await tool.run(context, tool.parse(arguments))
    if inspect.iscoroutinefunction(execute):
        return await execute(arguments, context)
    answer = await _threads.run(execute, arguments, context)
    return await answer if inspect.isawaitable(answer) else answer


def _result(answer: Any) -> Json:
    if isinstance(answer, str):
        return {"output": answer}
    get = _getter(answer)
    if isinstance(output := get("output") if isinstance(answer, dict) or hasattr(answer, "output") else None, str):
        if (error := get("error")) is not None and not isinstance(answer, dict):
            raise error
        files = [
            one if isinstance(one, dict) else {"mime": one.mime, "url": one.url, "filename": one.filename}
            for one in get("attachments") or ()
        ]
        said = {"output": output, "title": get("title") or "", "metadata": get("metadata") or {}, "attachments": files}
        return said | ({"truncated": get("truncated")} if get("truncated") is not None else {})
    try:
        return {"output": json.dumps(answer, ensure_ascii=False)}
    except (TypeError, ValueError) as problem:
        raise Failure(f"It returned {type(answer).__name__}, which is no text, record or JSON: {problem}.") from problem


async def main() -> None:
    sys.meta_path.append(OneFinder(sys.argv[1]))
    await Wire().run()


if __name__ == "__main__":
    asyncio.run(main())
    os._exit(0)  # threads of tools that never end must not keep the process
