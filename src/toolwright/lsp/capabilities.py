"""Our capabilities, as language servers are told them."""

from typing import Any


def capabilities(*, progress: bool) -> dict[str, Any]:
    """`progress` is whether the server is to tell how far it is with its work."""
    return {"window": {"workDoneProgress": progress}, **_CAPABILITIES}


_KINDS = list(range(1, 27))

_CAPABILITIES: dict[str, Any] = {
    "general": {"positionEncodings": ["utf-16"]},
    "workspace": {
        "applyEdit": True,
        "configuration": True,
        "workspaceFolders": True,
        "didChangeConfiguration": {"dynamicRegistration": False},
        "didChangeWatchedFiles": {"dynamicRegistration": True},
        "symbol": {"symbolKind": {"valueSet": _KINDS}},
        "workspaceEdit": {
            "documentChanges": True,
            "resourceOperations": ["create", "rename", "delete"],
            "failureHandling": "transactional",
        },
    },
    "textDocument": {
        "synchronization": {"dynamicRegistration": False, "didSave": True},
        # Without `relatedInformation`, which nobody is shown, a server says in its message what it would say there.
        "publishDiagnostics": {"versionSupport": True},
        # A server that is told so keeps its findings until it is asked: only then can they not come for an older text.
        "diagnostic": {"dynamicRegistration": False, "relatedDocumentSupport": True},
        "definition": {"linkSupport": True},
        "implementation": {"linkSupport": True},
        "references": {},
        "hover": {"contentFormat": ["plaintext", "markdown"]},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True, "symbolKind": {"valueSet": _KINDS}},
        "callHierarchy": {},
        "rename": {"prepareSupport": True},
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["", "quickfix", "refactor", "source"]}},
            "resolveSupport": {"properties": ["edit"]},
            "dataSupport": True,
        },
    },
}
