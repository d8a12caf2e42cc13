"""The shell: command lines understood before they run."""

from toolwright.shell.analysis import Analysis, Command, analyse
from toolwright.shell.requests import checks_for, requests_for

__all__ = ["Analysis", "Command", "analyse", "checks_for", "requests_for"]
