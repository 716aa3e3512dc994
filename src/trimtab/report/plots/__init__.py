"""Plots as inline SVG, one kind a file."""
