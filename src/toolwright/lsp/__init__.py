"""Language servers: found, started once for each project and language, kept up to date, asked for errors and symbols."""
