"""Load test: seeded, bounded load with streams that come and go, and hostile requests."""
