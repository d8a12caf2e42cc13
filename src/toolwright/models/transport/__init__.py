"""HTTP to providers: connections, certificates, refusals, retries, the next model in line."""
