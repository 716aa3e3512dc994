"""The recipe behind the shipped weights: ``python -m trimtab.models.train NAME --data FILE``."""
