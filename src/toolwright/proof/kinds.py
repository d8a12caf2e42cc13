"""Kinds of a project's files to a check: its work, a test, or a part of the check itself."""

import re
import sys
from collections.abc import Collection
from pathlib import PurePosixPath
from typing import Literal

Kind = Literal["work", "test", "check"]

WORK = frozenset(
    (
        *("py", "pyi", "pyx", "js", "mjs", "cjs", "ts", "mts", "cts", "tsx", "jsx", "vue", "svelte", "go", "rs"),
        *("c", "h", "cc", "cpp", "cxx", "hpp", "hh", "java", "kt", "kts", "scala", "rb", "php", "cs", "fs"),
        *("swift", "m", "mm", "lua", "pl", "pm", "r", "jl", "ex", "exs", "erl", "hs", "ml", "mli", "clj", "dart"),
        *("zig", "nim", "sql", "graphql", "proto", "html", "htm", "css", "scss", "less", "md", "rst", "txt"),
        *("json", "json5", "jsonl", "yaml", "yml", "toml", "xml", "csv", "tsv", "svg", "png", "jpg", "jpeg", "gif"),
        *("ico", "po", "pot", "j2", "jinja", "tmpl", "mustache", "hbs", "ejs", "adoc", "tex", "bib", "ipynb"),
        *("webp", "woff", "woff2", "ttf", "wasm", "bin", "dat"),
    )
)
"""Endings of files that hold the work. Everything else is taken for a part of the check."""
_CHECK_NAMES = re.compile(
    r"""(?x)
    conftest\.py | (site|user)customize\.py | setup\.py | noxfile\.py | tasks\.py | dodo\.py | fabfile\.py | build\.rs
    | package\.json | package-lock\.json | npm-shrinkwrap\.json | pnpm-(lock|workspace)\.yaml | yarn\.lock | lerna\.json
    | nx\.json | turbo\.json | deno\.jsonc? | bunfig\.toml | pyproject\.toml | tox\.toml | ruff\.toml | pytest\.toml
    | poetry\.(lock|toml) | uv\.(lock|toml) | pdm\.(lock|toml) | Cargo\.(toml|lock)
    | rust-toolchain(\.toml)? | clippy\.toml
    | go\.(mod|sum|work) | (dev-|test-)?requirements.*\.txt | constraints.*\.txt | environment\.ya?ml | CMakeLists\.txt
    | taskfile\.ya?ml | \.?pre-commit-config\.yaml | \.gitlab-ci\.yml | azure-pipelines\.yml | \.travis\.yml
    | docker-compose.*\.ya?ml | compose\.ya?ml
    | (jest|vitest|vite|babel|karma|mocha|ava|cypress|playwright|wdio|tap
      |webpack|rollup|esbuild|swc|nyc|c8|eslint|tsup|metro)(\.\w+)?\.(config|conf|setup|workspace)\.\w+
    | (jest|vitest)[.-]?(setup|config).* | setup[-_]?(tests?|jest|vitest|env).* | babel\.config\..*
    | tsconfig.*\.json | jsconfig\.json | pom\.xml | build\.gradle(\.kts)? | settings\.gradle(\.kts)? | build\.sbt
    | .*\.(pth|mk|mak|cmake|ninja|gradle|rake|gemspec|bazel|bzl|sh|bash|zsh|fish|bat|cmd|ps1|env|ini|cfg|conf|lock)
    | (toolwright|opencode)\.jsonc?
    | _?pytest\.py | pytest_.*\.py | _pytest.* | unittest\.py | doctest\.py | nose\.py | \..*
    """,
    re.IGNORECASE,
)
_TEST_NAMES = re.compile(
    r"(?i)(test|tests)\.\w+|test_.*|.*_tests?\.\w+|.*[.\-_](test|spec)\.\w+|.*_spec\.\w+"
    r"|.*Tests?\.(java|kt|cs|scala|php|swift)|.*\.(snap|approved\.\w+|golden)"
    r"|(.*[._-])?(expected|golden|approved)([._-].*)?\.(txt|jsonl?|ya?ml|csv|tsv|xml|html|svg|md|out|log)"
)
_TEST_FOLDERS = re.compile(r"(?i)(__)?(tests?|specs?|e2e|testdata|fixtures|snapshots|golden|cassettes)(__)?")
_CHECK_FOLDERS = frozenset(
    (".github", ".gitlab", ".circleci", ".buildkite", ".husky", ".cargo", ".config", ".vscode", "ci")
)
_RUNNERS = frozenset(
    (
        *("pytest", "_pytest", "pluggy", "iniconfig", "nose", "nose2", "mock", "hypothesis", "tox", "nox", "coverage"),
        *("xdist", "pytest_cov", "freezegun", "behave", "mypy", "ruff", "sitecustomize", "usercustomize"),
    )
)
"""Modules of test runners, for which one of the project would be taken."""
_JUDGES = re.compile(
    r"(?i)(^|[._-])(run_?)?(all_?)?(tests?|check|checks|verify|validate|judge|lint|ci|spec|assert)s?([._-]|$)"
)


def kind_of(path: str, judges: Collection[str] = ()) -> Kind:
    """Return what a file is by its path from the root; `judges` are the files that a condition comes down to."""
    place = PurePosixPath(path)
    name, folders = place.name, place.parts[:-1]
    if any(one in _CHECK_FOLDERS or one.startswith(".") for one in folders) or _CHECK_NAMES.fullmatch(name):
        return "check"
    if _TEST_NAMES.fullmatch(name) or any(_TEST_FOLDERS.fullmatch(one) for one in folders):
        return "test"
    if path in judges and (_JUDGES.search(place.stem) or place.suffix.lstrip(".") not in WORK):
        return "check"
    if place.suffix == ".py" and _shadows(place):
        return "check"
    return "work" if place.suffix.lstrip(".").lower() in WORK else "check"


def _shadows(place: PurePosixPath) -> bool:
    """Tell if a module would be taken for one that Python brings; only at a place that imports begin at."""
    first = place.stem if len(place.parts) == 1 else place.parts[0] if place.name == "__init__.py" else ""
    if len(place.parts) == 2 and place.parts[0] in ("src", "lib"):
        first = place.stem
    return first in sys.stdlib_module_names or first in _RUNNERS
