"""One idea a file; no component imports another."""
