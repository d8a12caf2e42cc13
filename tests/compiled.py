"""Compiles the tests as pytest does, on all cores, so that its workers need not each do it once more."""

import ast
import importlib.util
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from _pytest.assertion.rewrite import PYC_TAIL, _read_pyc, _write_pyc_fp, get_cache_dir, rewrite_asserts

TESTS = Path(__file__).parent


def main() -> None:
    files = [file for pattern in ("test_*.py", "conftest.py") for file in TESTS.rglob(pattern)]
    with ProcessPoolExecutor() as pool:
        list(pool.map(compile_tests, files, chunksize=8))


def compile_tests(file: Path) -> None:
    """What pytest would find missing or out of date."""
    folder = get_cache_dir(file)
    compiled = folder / f"{file.stem}{PYC_TAIL}"
    if _read_pyc(file, compiled) is not None:
        return
    source = file.read_bytes()
    tree = ast.parse(source, str(file))
    rewrite_asserts(tree, source, str(file))
    code = compile(tree, str(file), "exec", dont_inherit=True)
    folder.mkdir(exist_ok=True)
    written = compiled.with_name(f"{compiled.name}.{os.getpid()}")
    with written.open("wb") as out:
        _write_pyc_fp(out, importlib.util.source_hash(source), code)
    written.replace(compiled)


if __name__ == "__main__":
    main()
