"""The shell: command lines understood before they run. README.md beside this file shows the way through it."""

from toolwright.shell.analysis import Analysis, Command, analyse
from toolwright.shell.findings import Confinement
from toolwright.shell.requests import checks_for, requests_for

__all__ = ["Analysis", "Command", "Confinement", "analyse", "checks_for", "requests_for"]
