"""Two words by which people tell sessions apart, such as `quiet-heron`."""

import random

_KINDS = (
    "agile amber ample balmy bold brave breezy bright brisk broad calm candid cheery clear clever cosmic crisp daring "
    "deep early eager easy fair fast fine fresh gentle glad golden grand green handy happy hardy honest humble jolly "
    "keen kind light lively loyal lucky lunar mellow merry mild misty modest neat nimble noble open patient plain "
    "proud quick quiet rapid ready rosy royal rustic sandy silver simple smart smooth snowy sober solar solid spry "
    "steady stout sunny sure swift tidy trusty upbeat vivid warm wise witty young"
)
_THINGS = (
    "acorn anchor apple arbor aspen badger barley basin bay beacon beaver birch bridge brook canyon cedar cherry "
    "cloud comet coral cove crane creek delta dune eagle elm ember falcon fern field finch fjord forest fox garden "
    "grove harbor hazel heron hill island ivy juniper lagoon lake lantern lark lemon lily linden lynx maple marsh "
    "mill moon moss oak olive orchard otter owl panda pebble pine planet plum pond poplar prairie quarry quartz raven "
    "reef ridge river robin rose sage sail seal shore sparrow spring star stone stork stream summit swan thistle tulip "
    "valley violet walnut wave willow wren"
)


def new_slug() -> str:
    # Names for people; nothing depends on them being unique or hard to guess.
    return f"{random.choice(_KINDS.split())}-{random.choice(_THINGS.split())}"  # noqa: S311 - as said
