"""Components: the ideas that methods are made of, one idea a file; none imports another."""
