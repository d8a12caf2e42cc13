"""All routes in one table."""

from toolwright.server.asking import Table
from toolwright.server.routes import (
    calls,
    document,
    files,
    lines,
    logins,
    messages,
    own,
    page,
    programs,
    prompts,
    pty,
    questions,
    runs,
    sessions,
    streams,
    surroundings,
    terminal,
    unoffered,
    vcs,
    worktrees,
)

TABLE = Table(
    route
    for module in (
        surroundings,
        logins,
        sessions,
        messages,
        prompts,
        questions,
        calls,
        streams,
        files,
        terminal,
        programs,
        pty,
        own,
        runs,
        lines,
        document,
        page,
        vcs,
        worktrees,
        unoffered,
    )
    for route in module.routes.all
)
