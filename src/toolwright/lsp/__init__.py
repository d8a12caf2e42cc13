"""Language servers: found, started once for a project and language, kept up to date, asked for errors and symbols."""
