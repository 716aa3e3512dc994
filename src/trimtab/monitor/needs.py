"""What to say where a package is not installed."""


def missing(extra: str, error: ImportError) -> ImportError:
    """An error that says how to get a writer's package."""
    return ImportError(f"this writer needs more: pip install 'trimtab[{extra}]' ({error})")
