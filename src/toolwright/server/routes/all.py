"""All routes in one table."""

from toolwright.server.asking import Table
from toolwright.server.routes import (
    calls,
    document,
    files,
    lines,
    logins,
    messages,
    page,
    programs,
    project_info,
    prompts,
    pty,
    questions,
    runs,
    sessions,
    streams,
    stubs,
    terminal,
    tw,
    vcs,
    worktrees,
)

TABLE = Table(
    route
    for module in (
        project_info,
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
        tw,
        runs,
        lines,
        document,
        page,
        vcs,
        worktrees,
        stubs,
    )
    for route in module.routes.all
)
