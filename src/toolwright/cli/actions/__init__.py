"""The work of larger commands: records, rules, packages, logins, other programs' settings."""
