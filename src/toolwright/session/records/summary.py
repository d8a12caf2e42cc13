"""Summary of a session in Markdown: prompts, changes, evidence and decisions, and nothing that no record has."""

from collections.abc import Iterator, Sequence

from toolwright.calls.parts import Failed, ToolPart
from toolwright.messages import Message, SessionInfo, User
from toolwright.proof.evidence import Evidence, Reason

LONGEST = 2000
"""Characters of a prompt or an answer that are shown."""


def summary_of(
    info: SessionInfo,
    messages: Sequence[Message],
    evidence: Evidence,
    changed: Sequence[str],
    head: str,
    *,
    pull_request: bool,
) -> str:
    """Return the summary; for a pull request without the title, which has a field of its own."""
    pieces = [] if pull_request else [f"# {_line(info.title)}"]
    prompts = [one.text for one in messages if isinstance(one.info, User) and one.text]
    answers = [one.text for one in messages if not isinstance(one.info, User) and one.text]
    if prompts:
        pieces.append("## Asked\n\n" + "\n\n".join(_quoted(one) for one in prompts))
    if answers:
        pieces.append(f"## Answered\n\n{_quoted(answers[-1])}")
    if changed:
        pieces.append("## Changed\n\n" + "\n".join(f"- `{_line(one)}`" for one in changed))
    pieces.append("## Evidence\n\n" + "\n".join(_evidence(evidence)))
    if decided := list(_decided(messages)):
        pieces.append("## Decided by a person or refused\n\n" + "\n".join(decided))
    models = sorted(
        {f"{one.info.provider_id}/{one.info.model_id}" for one in messages if not isinstance(one.info, User)}
    )
    source = f"Session `{info.id}`, by {', '.join(f'`{_line(one)}`' for one in models) or 'no model'}; chain `{head}`."
    pieces.append(f"{source} Check a bundle of it with `tw session verify FILE`.")
    return "\n\n".join(pieces) + "\n"


def _evidence(evidence: Evidence) -> Iterator[str]:
    yield f"**{evidence.verdict.replace('_', ' ')}**\n"
    for run in evidence.checks:
        came = f"{run.status.replace('_', ' ')}, exit code {run.exit}"
        yield f"- `{_line(run.command)}`: {came}, tree `{run.tree[:12] or 'unknown'}`"
    for reason in evidence.reasons:
        yield f"- {_WORDS[reason.weight]}{_reason(reason)}"


_WORDS = {"contradicts": "**Against it:** ", "doubt": "**Doubt:** ", "note": ""}


def _reason(reason: Reason) -> str:
    return _line(reason.text) + (f" (`{reason.call}`)" if reason.call else "")


def _decided(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        for part in message.parts.values():
            if not isinstance(part, ToolPart):
                continue
            for decision in part.decisions or ():
                if reply := decision.get("reply"):
                    yield f"- {part.tool}: `{_line(str(decision.get('pattern', '')))}` was answered: {reply}"
            if isinstance(part.state, Failed) and part.state.kind == "denied":
                yield f"- {part.tool} was refused: {_line(part.state.error)}"


def _quoted(text: str) -> str:
    excerpt = text if len(text) <= LONGEST else f"{text[:LONGEST]} […]"
    return "\n".join(f"> {line}" for line in excerpt.strip().splitlines())


def _line(text: str) -> str:
    return " ".join(text.replace("`", "'").split())[:300]
