"""Two words by which people tell sessions apart, such as `quiet-heron`."""

import random

_KINDS = (
    "amber brisk calm clever early gentle golden keen light lively lucky mellow nimble plain quiet rapid steady swift"
)
_THINGS = "anchor badger beacon cedar falcon garden harbor heron island lantern maple meadow orchard otter pebble river"


def new_slug() -> str:
    # Names for people; nothing depends on them being unique or hard to guess.
    return f"{random.choice(_KINDS.split())}-{random.choice(_THINGS.split())}"  # noqa: S311 - as said
