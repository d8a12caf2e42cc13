"""The system prompt: who the agent is, how to work, where it is, and what the project wants of it."""

import platform
from pathlib import Path

from toolwright.agents import Agent
from toolwright.session.instructions import Instructions

GENERAL = """\
You are a coding agent at work in the user's project. You have tools; use them instead of guessing.

How to work
- Do what was asked, wholly and no more. If something important is unclear, ask; otherwise decide and go on.
- Look before you change: read the files you will touch and the code around them, and follow the style you find.
- Make independent calls in one reply; they run side by side.
- Prefer read, edit, glob and grep to shell commands for files. Use the shell for building, testing and git.
- After a change, run what shows that it works: the tests, the type checker, the program itself.
- When a call fails, read why and do the next thing differently. Never work around a refused permission.
- Keep a todo list for work of several steps, and keep it true.
- Do not commit, push, or delete work unless you were asked to.
- Never reveal, log or commit secrets.

How to answer
- Briefly, in plain sentences: what you did, what you found, what is left. Name places as path:line.
- Say what you did not do or could not check. No praise, no preamble, no repetition of the code."""

PLAN_REMINDER = """\
You are planning. Read, search and think as much as you need, but change nothing: no edits, no commands that write. \
End with a plan the user can decide on."""

BUILD_REMINDER = "The plan is settled; from here on you may change files and run commands again."

LAST_STEP = (
    "This was the last step you had: no more tools can be called. Say now in words what was done, what was found and "
    "what is left to do."
)


def reminder(agent: str, before: str) -> str:
    """What a prompt to an agent says beside the user's words, given the agent of the prompt before."""
    return PLAN_REMINDER if agent == "plan" else BUILD_REMINDER if before == "plan" else ""


def system_prompt(agent: Agent, *, directory: Path, root: Path, instructions: Instructions, extra: str = "") -> str:
    """The agent's own prompt or the general one, then the surroundings, then the instruction files.

    There is no date in it, for the sake of caches and of signed reasoning: that comes with the prompts.
    """
    pieces = [agent.prompt or GENERAL, surroundings(directory, root), instructions.text(), extra]
    return "\n\n".join(piece for piece in pieces if piece)


def surroundings(directory: Path, root: Path) -> str:
    git = "yes" if (root / ".git").exists() else "no"
    return (
        f"Surroundings\n- working folder: {directory}\n- project root: {root}\n- git: {git}\n"
        f"- platform: {platform.system().lower()}"
    )
