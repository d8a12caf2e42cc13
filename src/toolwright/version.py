"""The version: a constant, so that asking for it costs nothing."""

VERSION = "0.1.0"
