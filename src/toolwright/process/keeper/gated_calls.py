"""The system calls by which programs reach others, on each machine."""

GATED = {"x86_64": {41: "socket", 42: "connect"}, "aarch64": {198: "socket", 203: "connect"}}
"""The calls that are held, by their numbers on each machine."""
FAST_OPEN = 0x20000000
SENDING = {"x86_64": {44: 3, 46: 2, 307: 3}, "aarch64": {206: 3, 211: 2, 269: 3}}
"""The calls that connect as they send, if that flag is in this argument."""
