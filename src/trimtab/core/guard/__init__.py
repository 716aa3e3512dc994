"""The guard: an adapted model beside its source, without labels, and a way back to it."""
