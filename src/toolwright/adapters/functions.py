"""Our tools as plain functions, for any loop: a name, a description, a JSON Schema, and something to await."""

from typing import Any

from toolwright.adapters.bridge import Target, offered, run, session_of
from toolwright.definition import Result
from toolwright.inbox import Answerer
from toolwright.protocols.json_text import read_json
from toolwright.protocols.json_types import Json
from toolwright.record import record
from toolwright.session.session import Session
from toolwright.text.ids import new_id


@record(frozen=True, slots=True, kw_only=True)
class ToolFunction:
    """One tool of a session: `await function(filePath="a.txt")`. A failure is a result with an `error`."""

    name: str
    description: str
    parameters: Json
    """JSON Schema of the arguments."""
    session: Session
    answer: Answerer | None = None
    """Who answers the questions of its calls; the `answer` of the workspace if nobody is named."""

    @property
    def __name__(self) -> str:
        return self.name

    async def __call__(self, **arguments: Any) -> Result:
        return await self.run(arguments)

    async def run(self, arguments: Json | str, call_id: str = "") -> Result:
        """Call it with arguments as a model wrote them: an object, or the text of one."""
        values: Any = arguments
        if isinstance(arguments, str):
            try:
                values = read_json(arguments) if arguments.strip() else {}
            except ValueError:
                values = arguments  # for the tool to complain about
        return await run(self.session, self.name, values, call_id or new_id("call"), self.answer)

    def as_openai(self) -> Json:
        """Return it as an entry of `tools` in a request of OpenAI and of all who speak like it."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}

    def as_anthropic(self) -> Json:
        """Return it as an entry of `tools` in a request of Anthropic."""
        return {"name": self.name, "description": self.description, "input_schema": self.parameters}


async def tools(target: Target, *, answer: Answerer | None = None) -> list[ToolFunction]:
    """The tools of a session, or of a workspace, as functions."""
    session = session_of(target)
    return [
        ToolFunction(
            name=one.id, description=one.description, parameters=one.parameters, session=session, answer=answer
        )
        for one in await offered(session)
    ]
