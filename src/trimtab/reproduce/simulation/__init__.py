"""Streams of simulated logits whose truth is known: classes, models and inputs without images."""
