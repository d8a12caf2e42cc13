"""All routes in one table."""

from toolwright.server.routes import (
    document,
    files,
    messages,
    own,
    page,
    programs,
    prompts,
    questions,
    sessions,
    streams,
    surroundings,
    terminal,
    unoffered,
)
from toolwright.server.table import Table

TABLE = Table(
    route
    for module in (
        surroundings,
        sessions,
        messages,
        prompts,
        questions,
        streams,
        files,
        terminal,
        programs,
        own,
        document,
        page,
        unoffered,
    )
    for route in module.routes.all
)
