"""Other people's set-ups on toolwright and on OpenCode: the page docs/drop-in.md, and the counting of plugins.

python bench/drop_in.py                        makes the page of what was counted last (bench/drop_in.json)
python bench/drop_in.py --opencode PROGRAM     counts anew: every plugin by name, installed and loaded by both programs

Plugins run with your rights, so count where nothing can be harmed. bun on the PATH is used for ours, as OpenCode brings
its own.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

HERE = Path(__file__).parent
COUNTED = HERE / "drop_in.json"
PAGE = HERE.parent / "docs" / "drop-in.md"
SECONDS = 120
PACKAGES = (
    *("opencode-pty@0.1.3", "open-trees@1.0.1", "@different-ai/opencode-browser@4.6.1", "opencode-supermemory@2.0.10"),
    *("@tarquinen/opencode-dcp@3.1.14", "opencode-skills@0.1.7", "opencode-wakatime@1.3.9", "opencode-vibeguard@0.1.0"),
    *("opencode-anthropic-auth", "opencode-copilot-auth", "opencode-gemini-auth", "opencode-openai-codex-auth"),
    *("opencode-antigravity-auth", "oh-my-opencode@4.19.4", "oh-my-opencode-slim@2.2.24", "cc-safety-net@2.4.5"),
    "superpowers@0.0.2",
)
BUILT_IN = frozenset(
    (
        *("apply_patch", "bash", "batch", "codesearch", "edit", "glob", "grep", "invalid", "list", "lsp", "multiedit"),
        *("plan_enter", "plan_exit", "question", "read", "repo_clone", "repo_overview", "skill", "task", "todoread"),
        *("todowrite", "webfetch", "websearch", "write"),
    )
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--opencode", default="", metavar="PROGRAM", help="count plugins anew, against this OpenCode")
    options = parser.parse_args()
    counted = json.loads(COUNTED.read_text("utf-8"))
    if options.opencode:
        counted["plugins"] = {name: _counted(name, options.opencode) for name in PACKAGES}
        COUNTED.write_text(json.dumps(counted, indent=1, ensure_ascii=False) + "\n", "utf-8")
    PAGE.write_text(page(counted), "utf-8")


def _counted(package: str, opencode: str) -> dict[str, Any]:
    """One plugin in a folder and a home of its own, by both programs."""
    with tempfile.TemporaryDirectory() as scratch:
        project, home = Path(scratch, "project"), Path(scratch, "home")
        for folder in (project, home):
            folder.mkdir()
        (project / "opencode.json").write_text(json.dumps({"plugin": [package]}))
        subprocess.run(["git", "init", "-q", str(project)], check=True)
        theirs = _json([opencode, "debug", "agent", "build"], project, home)
        ours = _json([sys.executable, "-m", "toolwright", "plugin", "list", "--json", "--trust"], project, home)
        tools = _json([sys.executable, "-m", "toolwright", "tool", "list", "--json", "--trust"], project, home)
    return compared(theirs, ours, tools)


def compared(theirs: Any, ours: Any, tools: Any) -> dict[str, Any]:
    """What both made of a plugin: its tools there and here, and whether each has loaded it."""
    offered = theirs.get("tools", {}) if isinstance(theirs, dict) else None
    names = [tool["id"] for tool in tools] if isinstance(tools, list) else []
    found = ours[0] if isinstance(ours, list) and ours else {}
    return {
        "opencode": None if offered is None else sorted(name for name in offered if name not in BUILT_IN),
        "ours": sorted(name for name in names if name not in BUILT_IN),
        "status": found.get("status", "none"),
        "error": str(found.get("error", ""))[:160],
    }


def _json(argv: Sequence[str], project: Path, home: Path) -> Any:
    environment = {**os.environ, "HOME": str(home), "OPENCODE_DISABLE_MODELS_FETCH": "1"}
    try:
        done = subprocess.run(argv, cwd=project, env=environment, capture_output=True, timeout=SECONDS, check=False)
        return json.loads(done.stdout or b"null")
    except (subprocess.TimeoutExpired, ValueError):
        return None


def page(counted: Mapping[str, Any]) -> str:
    """The whole page."""
    return "\n".join(_lines(counted)) + "\n"


def _lines(counted: Mapping[str, Any]) -> Iterator[str]:
    yield "# Drop-in, counted"
    yield ""
    yield "Other people's set-ups, plugins and suites on toolwright and on the programs they were made for. Made by"
    yield "`python bench/drop_in.py`; what is not the same is named with its reason."
    yield ""
    yield from _plugins(counted)
    yield ""
    yield from _suites()
    yield ""
    yield from _decisions()
    yield ""
    yield from _setups(counted["setups"])


def _plugins(counted: Mapping[str, Any]) -> Iterator[str]:
    plugins: Mapping[str, Any] = counted["plugins"]
    run = [one for one in plugins.values() if one["opencode"] is not None]
    yield f"## Plugins of npm, by name: {sum(map(_is_same, run))} of {len(run)} the same"
    yield ""
    yield f"Counted on {counted['date']} against OpenCode {counted['opencode']}, each in an empty project with a home"
    yield 'of its own, as `"plugin": ["NAME"]`, with bun on the PATH, since OpenCode brings its own. The same means: it'
    yield "loads here, and both offer the same tools of it. With the Node.js of the extra `js` alone all are the same"
    yield "but"
    yield from (f"{name} ({why})," for name, why in counted["without_bun"].items())
    yield "and a call of one of these says that bun is to be installed."
    yield ""
    yield "| plugin | OpenCode | here | |"
    yield "|---|---|---|---|"
    for name, one in plugins.items():
        here = _tools(one["ours"]) if one["status"] == "active" else one["status"]
        there = "not run" if one["opencode"] is None else _tools(one["opencode"])
        yield f"| {name} | {there} | {here} | {'same' if _is_same(one) else _why(one)} |"


def _suites() -> Iterator[str]:
    from tests.mcp.test_conformance import CLIENT, SCENARIOS, SERVER
    from tests.suites import test_aider, test_bash_corpus, test_codex_patches, test_shell_tables
    from tests.test_schema_suite import MISSED, REQUIRED

    yield "## Suites nobody here wrote"
    yield ""
    yield "`make real` installs them; the tests that run them hold these counts. The two that lie on GitHub alone were"
    yield "out of reach where this page was made, and are held to what the same cases came to before."
    yield ""
    yield "| suite | passed | left out |"
    yield "|---|---|---|"
    client, server = f"{len(CLIENT)} of {len(CLIENT) + 1}", f"{len(SERVER)} of {SCENARIOS}"
    yield f"| MCP conformance 0.1.16, client | {client} | an issuer that is not what it says it is |"
    yield f"| MCP conformance 0.1.16, server | {server} | a tool that asks the model of its client |"
    for draft, total in REQUIRED.items():
        passed = f"{total - MISSED[draft]} of {total}"
        yield f"| JSON-Schema-Test-Suite, {draft}, required | {passed} | see tests/test_schema_suite.py |"
    for program, rows in test_shell_tables.ROWS.items():
        otherwise = test_shell_tables.OTHERWISE[program]
        listed = ", ".join(f"`{one}`" for one in otherwise)
        yield f"| {program}, tables of its shell rules | {rows - len(otherwise)} of {rows} | {listed} |"
    refused = test_aider.REFUSED
    passed = f"{test_aider.CASES - len(refused)} of {test_aider.CASES}"
    yield f"| aider 0.86.1, replacements | {passed} | refused: two fit (2), a blank line that is not there |"
    missed = len(test_codex_patches.OTHERWISE)
    passed = f"{test_codex_patches.CASES - missed} of {test_codex_patches.CASES}"
    yield f"| Codex, apply_patch (GitHub) | {passed} | it adds a final newline; it keeps half a patch |"
    most = test_bash_corpus.MOST
    yield f"| tree-sitter-bash, its corpus (GitHub) | all but {most} at most | what bash itself takes |"
    yield "| SDK of OpenCode 1.1.31 and 1.19.3, both generations | all calls of tests/server/test_sdk.py | |"
    yield "| ACP, official client | all of tests/acp/test_official_client.py and test_official_sdk.py | |"


def _setups(setups: Mapping[str, Any]) -> Iterator[str]:
    rows: Sequence[Mapping[str, str]] = setups["rows"]
    loaded = [one for one in rows if one["opencode"].startswith("loads")]
    same = [one for one in loaded if one["then"].startswith("same")]
    later = [one for one in loaded if one not in same and "since" in one]
    yield f"## Public set-ups: {len(same)} of {len(loaded)} the same when counted, {len(later)} more since"
    yield ""
    told = (
        f"{len(rows)} set-ups of GitHub, each as published and trusted, of which OpenCode loads {len(loaded)}. The "
        "same means the same agents, commands, skills, instruction files in the prompt and tools offered. They were "
        f"counted at {setups['commit']}; what {len(later)} of them differed in has been built since. "
        "That is held by tests and by the count above, not by another count: they lie on GitHub, from where "
        "this script fetches nothing."
    )
    yield told
    yield "Those that OpenCode does not load itself are named with its reason."
    yield ""
    yield "| set-up (GitHub) | OpenCode | here, when counted | since |"
    yield "|---|---|---|---|"
    for row in rows:
        yield f"| {row['source']} | {row['opencode']} | {row['then']} | {row.get('since', '')} |"
    yield ""
    yield "What differed in many of them, and what became of it:"
    yield ""
    yield "| what | difference | since |"
    yield "|---|---|---|"
    for row in setups["wider"]:
        yield f"| {row['name']} | {row['difference']} | {row['since']} |"


def _is_same(one: Mapping[str, Any]) -> bool:
    return bool(one["opencode"] == one["ours"] and one["status"] in ("active", "none"))


def _tools(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:4])
    return f"{shown} and {len(names) - 4} more" if len(names) > 4 else shown or "no tools"


def _why(one: Mapping[str, Any]) -> str:
    if one["opencode"] is None:
        return "OpenCode gave no answer in time"
    if one["status"] != "active":
        return str(one["error"]).replace("|", "\\|").replace("\n", " ") or one["status"]
    return f"{len(one['opencode'])} tools there, {len(one['ours'])} here"


def _decisions() -> Iterator[str]:
    from tests.config.test_foreign_permissions import CLAUDE_STRICTER, CLAUDE_TABLE, CODEX_TABLE, GEMINI_TABLE

    tables = (
        ("Claude Code", CLAUDE_TABLE, CLAUDE_STRICTER),
        ("Codex", CODEX_TABLE, ()),
        ("Gemini CLI", GEMINI_TABLE, ()),
    )
    yield "## Permissions of other programs"
    yield ""
    yield "By the tables in tests/config/test_foreign_permissions.py: what each program decides, and what is decided"
    yield "here."
    yield ""
    yield "| program | calls decided the same | otherwise |"
    yield "|---|---|---|"
    for program, table, stricter in tables:
        total = len(table.splitlines())
        otherwise = f"{len(stricter)}, stricter: {', '.join(f'`{one}`' for one in stricter)}" if stricter else "none"
        yield f"| {program} | {total - len(stricter)} of {total} | {otherwise} |"


if __name__ == "__main__":
    main()
