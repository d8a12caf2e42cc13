"""The shell: command lines understood before they run. README.md beside this file shows the way through it."""

from toolwright.shell.analysis.analysis import AnalysedCommand, Analysis, analyse
from toolwright.shell.requests.paths import checks_for, requests_for
from toolwright.shell.state.findings import Confinement

__all__ = ["AnalysedCommand", "Analysis", "Confinement", "analyse", "checks_for", "requests_for"]
