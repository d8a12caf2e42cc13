"""`import toolwright.tool` gives the decorator too, so that the name means one thing however it is imported."""

import sys

from toolwright.definition import tool

vars(sys)["modules"][__name__] = tool
