"""The command line: one subcommand a file, nothing heavy imported before it is needed."""
