"""The version, where the build and the saved states read it."""

__version__ = "0.2.0"
