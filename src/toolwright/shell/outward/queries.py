"""Acts of queries: statements of SQL, and scripts of document stores."""

import re

from toolwright.calls.acts import ActClass

_STATEMENT = re.compile(r"(?:--[^\n]*(?:\n|$)|/\*.*?\*/|[\s;(]|\\[gG])+", re.DOTALL)
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|\$\$.*?\$\$", re.DOTALL)
_LOOKS = re.compile(
    r"(?:select|match|show|explain|describe|desc|values|table|use|with|set|pragma|list|help|exit|quit|begin|commit|rollback|start"
    r"|fetch|from|info|status|source_sample|analyze|print|go|get|scan)\b|\\(?!copy|i\b|ir\b|!|\.|o\b|w\b|e\b)|$",
    re.IGNORECASE,
)
_ENDS = re.compile(r"(?:drop|delete|truncate|purge|revoke|kill|shutdown|flush)\b", re.IGNORECASE)
_ENDING = re.compile(r"\b(?:drop|delete|truncate|purge|revoke|kill|shutdown|flush)\b", re.IGNORECASE)
_ENDS_INSIDE = re.compile(
    r"\b(?:delete\s+from|drop\s+\w+|truncate\s+\w+|delete\s+where|detach\s+delete|delete\s+\w+\s*$)\b", re.IGNORECASE
)
_CHANGES_INSIDE = re.compile(
    r"\b(?:insert\s+into|update\s+\S+\s+set|merge\s+into|into\s+(?:out|dump)file|pg_terminate_backend|pg_cancel_backend"
    r"|setval|nextval|lo_(?:import|unlink)|dblink_exec|select\b.*\binto)\b"
    r"|^\s*set\s+(?:global|persist)\b|\b(?:create|merge)\s*\(|\b(?:set|remove)\s+\w+[.:]",
    re.IGNORECASE | re.DOTALL,
)
_OPEN = re.compile(r"\$(?!\$|\d)|`")
_SCRIPT_ENDS = re.compile(
    r"\.\s*(?:drop\w*|delete\w*|remove\w*|findOneAndDelete|shutdownServer|destroy\w*|killOp|bulkWrite)\s*\("
)
_SCRIPT_LOOKS = re.compile(
    r"\.\s*(?:find\w*|count\w*|aggregate|distinct|stats|getM?\w*|show\w*|list\w*|explain|help|status|hello|isMaster|serverStatus"
    r"|version|currentOp|hostInfo|forEach|map|toArray|pretty|limit|sort|skip|projection|dataSize|storageSize|totalSize|estimated\w*"
    r"|is\w*|print\w*|log|stringify|parse|join|length|keys|filter|reduce|hasNext|next|conf|size)\s*\("
)
_SCRIPT_CALL = re.compile(r"\.\s*\w+\s*\(")
_COMMANDS = re.compile(r"(?:runCommand|adminCommand)\s*\(\s*\{?\s*['\"]?(\w+)")
_COMMANDS_LOOK = re.compile(
    r"ping|hello|isMaster|\w*[sS]tat(?:s|us)|list\w+|get\w+|count|find|distinct|aggregate|explain|buildInfo|connectionStatus"
)


def of_query(text: str) -> ActClass:
    """The strictest class among the statements; a text that is not known whole may change something."""
    if _OPEN.search(text):
        return "changes"
    plain = _QUOTED.sub("''", text)
    kinds = {_of_statement(one) for one in re.split(r";", plain)}
    return "final" if "final" in kinds else "changes" if "changes" in kinds else "reads"


def ending_word(text: str) -> str:
    """Return the word of a query that takes something away, as it is written; empty where none does."""
    match = _ENDING.search(_QUOTED.sub("''", text)) or _SCRIPT_ENDS.search(text)
    return match[0].strip(" .(") if match else ""


def _of_statement(text: str) -> ActClass:
    start = _STATEMENT.match(text)
    body = text[start.end() :] if start else text
    if _ENDS.match(body) or _ENDS_INSIDE.search(body):
        return "final"
    looks = _LOOKS.match(body) and not _CHANGES_INSIDE.search(body)
    return "reads" if looks else "changes"


def of_script(text: str) -> ActClass:
    """The class of a script for a document store, by the methods that it calls."""
    if _OPEN.search(text):
        return "changes"
    if _SCRIPT_ENDS.search(text):
        return "final"
    for match in _COMMANDS.finditer(text):
        if match[1].startswith(("drop", "delete", "kill", "shutdown")):
            return "final"
        if not _COMMANDS_LOOK.fullmatch(match[1]):
            return "changes"
    rest = _COMMANDS.sub("", _SCRIPT_LOOKS.sub("", text))
    return "changes" if _SCRIPT_CALL.search(rest) else "reads"
