"""The settings: one typed record, and the JSON Schema, the reader and the table of docs that are derived from it."""

from toolwright.settings.record import (
    AgentSettings,
    BatchSection,
    BudgetSection,
    CommandSettings,
    CompactionSection,
    EditSection,
    EnvironmentSection,
    ExperimentalSection,
    LimitsSection,
    McpSettings,
    ProgramSettings,
    ProviderSettings,
    SandboxSection,
    SearchSection,
    Settings,
    TruncateSection,
)

__all__ = [
    "AgentSettings",
    "BatchSection",
    "BudgetSection",
    "CommandSettings",
    "CompactionSection",
    "EditSection",
    "EnvironmentSection",
    "ExperimentalSection",
    "LimitsSection",
    "McpSettings",
    "ProgramSettings",
    "ProviderSettings",
    "SandboxSection",
    "SearchSection",
    "Settings",
    "TruncateSection",
]
