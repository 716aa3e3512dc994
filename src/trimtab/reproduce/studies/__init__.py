"""Kinds of studies, one a file: each has a ``measure`` that returns plain values."""
