"""The tables as text, one format a file."""
