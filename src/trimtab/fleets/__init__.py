"""Fleets: many streams over one backbone, their passes merged."""
