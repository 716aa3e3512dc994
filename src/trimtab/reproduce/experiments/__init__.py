"""The experiments, one a file, named like the command that runs them."""
