"""Hostile text in an editor: what a person reads before they say yes shows all of it."""

from tests.cli.test_hostile_text import tool_call
from tests.text.test_display import HOSTILE, unseen
from toolwright.acp.permission import _asked, _choice, _form
from toolwright.acp.updates import named
from toolwright.app.shown import view_of
from toolwright.calls.request import Option
from toolwright.inbox import Choice, Question


def test_titles_and_questions_hide_nothing() -> None:
    for text in HOSTILE:
        choice = Choice(question=text, header=text, options=(Option(label=text, description=text),))
        question = Question(kind="choice", session_id="ses_1", call_id="call_1", title=text, choices=(choice,))
        shown = [str(named(view_of(tool_call(text)))["title"])]
        for asked in (_asked(question, "ses_1", []), _choice(question, choice, "ses_1")):
            shown += [asked["toolCall"]["title"], *(one["name"] for one in asked["options"])]
        form = _form(question, "ses_1")
        fields = form["requestedSchema"]["properties"].values()
        shown += [form["message"], *(one["title"] + one["description"] for one in fields)]
        shown += [one["title"] for field in fields for one in field.get("oneOf", ())]
        assert unseen("".join(shown)) == []
