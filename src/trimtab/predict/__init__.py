"""Predictions for people's own images: files in, a table of classes out, learning on the way."""
