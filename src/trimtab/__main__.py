"""``python -m trimtab`` is the same as ``trimtab``."""

from trimtab.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
