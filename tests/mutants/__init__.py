"""Small changes of conditions, limits and guards in src, each tried against the tests that run the changed line.

python -m tests.mutants --number 100 --seed 7 [--only session/] [--workers 2] [--record] [--tests PLACE ...]

The first run learns which test runs which line from a run of the whole suite and keeps that in `.mutants`; after larger
changes `--record` (`make mutants RECORD=1`) learns it anew. `--tests` learns from these places alone, for a quick look
at one package: `make mutants ONLY=session/ TESTS=tests/session NUMBER=20`.

A mutant is killed if one of those tests fails or does not end. Survivors are printed as they come. Not every survivor
is a gap: a condition that only saves time changes nothing, and of a line that very many tests run only some are tried,
so the rate is a lower bound.
"""
