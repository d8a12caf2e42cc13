"""tw plugin install, update and remove: the plugins that are packages."""

import argparse
from pathlib import Path
from typing import Any

from toolwright.cli.actions.settings_file import settings_file, write_setting
from toolwright.cli.options import note, open_from
from toolwright.cli.output import say
from toolwright.errors import UsageError
from toolwright.extensions import active_folders
from toolwright.extensions.packages import Package, package_of
from toolwright.extensions.plugin_hooks import store_of
from toolwright.extensions.plugins import named, packages_of
from toolwright.workspace import Workspace


async def install(options: argparse.Namespace) -> int:
    """Install a package and write it into the settings; without one, all that the settings name."""
    async with open_from(options) as workspace:
        store = store_of(workspace)
        for package in _wanted(options, workspace):
            await store.ensure(package)
            say(str(store.lock(package)))
        if not options.package:
            return 0
        file = settings_file(workspace, user=options.user)
        write_setting(file, "plugin", lambda said: _with(said, options.package), _by_hand(options.package))
        note(f"{options.package} is in {file}")
        if not options.user and not workspace.trusted:
            note("a project's plugins are loaded once you trust it: tw trust")
        return 0


async def update(options: argparse.Namespace) -> int:
    """Install a package as it is now; without one, all that the settings name."""
    async with open_from(options) as workspace:
        store = store_of(workspace)
        for package in _wanted(options, workspace):
            before = store.lock(package)
            after = await store.update(package)
            say(
                f"{after}  (unchanged)"
                if before == after
                else f"{after}  (before: {before.version if before else '-'})"
            )
        return 0


async def remove(options: argparse.Namespace) -> int:
    """Delete a package and take it out of the settings."""
    async with open_from(options) as workspace:
        [package] = _wanted(options, workspace)
        removed = store_of(workspace).remove(package)
        own = [settings_file(workspace, user=user) for user in (False, True)]
        for file in dict.fromkeys([*own, *(Path(source.name) for source in workspace.config.sources)]):
            if file.is_file() and f'"{package.spec}"' in file.read_text("utf-8"):
                write_setting(file, "plugin", lambda said: _without(said, package.spec), _by_hand(package.spec))
                note(f"{package.spec} is no longer in {file}")
                removed = True
        if not removed:
            known = ", ".join(lock.spec for lock in store_of(workspace).locks()) or "none"
            raise UsageError(f"The package {package.spec} is not installed. There are: {known}.")
        return 0


async def look_at(workspace: Workspace) -> None:
    """Say which releases of packages the settings mean, and hold them to these."""
    from toolwright.errors import ToolError

    store = store_of(workspace)
    for package in packages_of(workspace.config, active_folders(workspace.config)):
        try:
            lock = await store.resolve(package)
        except ToolError as error:
            note(f"which release of {package.spec} is meant is not known: {error}")
            continue
        say(f"package  {lock}".rstrip())
        if lock.integrity and store.lock(package) is None:
            store.pin(package, lock)


def _wanted(options: argparse.Namespace, workspace: Workspace) -> list[Package]:
    if options.package:
        if (package := package_of(options.package)) is None:
            raise UsageError(f"{options.package!r} is no package. Say NAME, NAME@VERSION or git+https://….")
        return [package]
    packages = packages_of(workspace.config, active_folders(workspace.config))
    if not packages:
        note("the settings name no packages; tw plugin install NAME adds one")
    return packages


def _with(setting: Any, spec: str) -> list[Any]:
    entries = _entries(setting)
    return entries if spec in [named(one)[0] for one in entries] else [*entries, spec]


def _without(setting: Any, spec: str) -> list[Any]:
    return [one for one in _entries(setting) if named(one)[0] != spec]


def _entries(setting: Any) -> list[Any]:
    if setting is not None and not isinstance(setting, list):
        raise ValueError("its `plugin` is no list")
    return setting or []


def _by_hand(spec: str) -> str:
    return f"Change the list `plugin` in it yourself: {spec!r}."
