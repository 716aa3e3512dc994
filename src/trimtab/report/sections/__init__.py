"""The page's sections, one a file."""
