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
from pathlib import Path
from typing import TYPE_CHECKING, Any

IN, OUT = 4, 3
Json = dict[str, Any]


def _beside(name: str) -> types.ModuleType:
    """A file of ours. By its path, since the environment may have a toolwright of its own, or none."""
    spec = importlib.util.spec_from_file_location(f"_toolwright_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


if TYPE_CHECKING:
    from toolwright.extensions import python_files as files
else:
    files = _beside("python_files")


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


class HostAbort:
    """Signal that the call is to stop."""

    def __init__(self) -> None:
        self.reason = ""

    @property
    def aborted(self) -> bool:
        return bool(self.reason)

    def raise_if_aborted(self) -> None:
        if self.reason:
            raise files.PluginFailure(f"The call was stopped: {self.reason}.", kind="aborted")


class Context:
    """Context of a tool's call, under the names of Python and of JavaScript."""

    def __init__(self, wire: "HostWire", call: Json) -> None:
        self._wire = wire
        self._call = call["callID"]
        self.session_id = self.sessionID = call.get("sessionID", "")
        self.message_id = self.messageID = call.get("messageID", "")
        self.call_id = self.callID = call["callID"]
        self.agent = call.get("agent", "")
        self.directory = Path(call.get("directory", "."))
        self.worktree = Path(call.get("worktree", "."))
        self.abort = HostAbort()

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
        for request in requests:
            await self.ask(request.permission, *request.patterns, always=request.always, **request.metadata)

    def metadata(self, title: Any = None, metadata: Any = None) -> None:
        """Show how the call is getting on."""
        if isinstance(title, dict) and metadata is None:
            title, metadata = title.get("title"), title.get("metadata")
        self._wire.notify("metadata", {"call": self._call, "title": title, "metadata": metadata or {}})

    async def call(self, tool: str, arguments: Json) -> Any:
        """Run another tool through the same door, for the same agent."""
        answer = await self._wire.request("call", {"call": self._call, "tool": tool, "arguments": arguments})
        return types.SimpleNamespace(**answer)


class HostWire:
    """Messages both ways, in any order."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._number = 0
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._working: dict[Any, tuple[asyncio.Task[None], list[Context]]] = {}
        self._lock = threading.Lock()
        self.files = HostFiles()
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
            waiting.set_exception(files.PluginFailure(error["message"], **(error.get("data") or {})))
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
        except files.PluginFailure as error:
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


class HostFiles:
    """The files that were loaded, and what they hold."""

    def __init__(self) -> None:
        self._project = files.ProjectCode(os.devnull, None)
        self._tools: dict[str, dict[str, Any]] = {}
        self._plugins: dict[str, dict[str, Any]] = {}

    async def project(self, params: Json, wire: "HostWire") -> None:
        """Learn which code of the project may run, before anything is loaded."""
        self._project = files.ProjectCode(params["root"], params["known"], params["exempt"])
        self._project.refused = lambda path: wire.notify("refused", {"file": path})
        sys.meta_path.insert(0, files.KnownFinder(self._project))

    async def imports(self, params: Json, _: Any) -> Json:
        """Import a file alone, and return the files that took."""
        files.import_file(params["path"], self._project)
        return {"files": files.own_modules(params["path"], self._project)}

    async def load(self, params: Json, _: Any) -> Json:
        """Return the tools of a file as for a model, and the files they were made from."""
        path = params["path"]
        tools = self._loaded(path)
        described = [files.described(name, one) for name, one in tools.items()]
        return {"tools": described, "files": files.own_modules(path, self._project)}

    async def call(self, params: Json, context: Context) -> Json:
        path, name = params["path"], params["name"]
        tools = self._plugins[path].get("tool", {}) if path in self._plugins else self._loaded(path)
        if name not in tools:
            raise files.PluginFailure(f"{path} has no tool {name!r} any more.", kind="missing")
        return files.result_of(await files.run(tools[name], params["arguments"], context))

    async def plugin(self, params: Json, _: Any) -> Json:
        """Start a plugin; the names of its hooks and what tools it brings."""
        path = params["path"]
        module = files.import_file(path, self._project) if path.endswith(".py") else files.entry_point(path)
        start = getattr(module, "plugin", None) if isinstance(module, types.ModuleType) else module
        if not callable(start):
            raise files.PluginFailure(f"{path}: expected a function plugin(host) that returns its hooks.")
        host = types.SimpleNamespace(
            directory=Path(params["directory"]),
            worktree=Path(params["worktree"]),
            options=params.get("options") or {},
        )
        hooks = start(host)
        if inspect.isawaitable(hooks):
            hooks = await hooks
        if not isinstance(hooks, dict):
            raise files.PluginFailure(
                f"{path}: plugin(host) returned {type(hooks).__name__}, but a mapping from hooks is expected."
            )
        self._plugins[path] = hooks
        tools = {name: one for name, one in hooks.get("tool", {}).items() if files.is_tool(one)}
        return {
            "hooks": [name for name, hook in hooks.items() if name == "tool" or callable(hook)],
            "tools": [files.described(name, one) for name, one in tools.items()],
        }

    async def hook(self, params: Json, _: Any) -> Json:
        hook = self._plugins[params["path"]][params["name"]]
        output = params.get("output")
        arguments = _fitting(hook, params["input"], output)
        answer = hook(*arguments) if inspect.iscoroutinefunction(hook) else await files.threads.run(hook, *arguments)
        if inspect.isawaitable(answer):
            await answer
        return {"output": output, **({"input": params["input"]} if params["name"] == "config" else {})}

    async def idle(self, _: Json, wire: "HostWire") -> None:
        """Return once nothing else is under way, threads included."""
        while wire.is_busy or files.threads.running:  # noqa: ASYNC110 - threads set no event
            await asyncio.sleep(0.005)

    def _loaded(self, path: str) -> dict[str, Any]:
        if path not in self._tools:
            module = files.import_file(path, self._project)
            self._tools[path] = {
                name: value
                for name, value in vars(module).items()
                if files.is_tool(value) and files.belongs(value, module)
            }
        return self._tools[path]


def _fitting(hook: Any, data: Json, output: Json | None) -> tuple[Any, ...]:
    """Return the arguments of a hook: what it is about and what it may change, or the first if it takes no more."""
    both = (data, {} if output is None else output)
    try:
        inspect.signature(hook).bind(*both)
    except TypeError:
        return (data,)
    except ValueError:
        return both
    return both


def _sentence(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"The tool ended its process with code {error.code}."
    return str(error) or type(error).__name__


async def main() -> None:
    sys.meta_path.append(OneFinder(sys.argv[1]))
    await HostWire().run()


if __name__ == "__main__":
    asyncio.run(main())
    os._exit(0)  # threads of tools that never end must not keep the process
