"""Our tools in other people's agents, and their tools in ours; one module for each library, imported by nobody else."""
