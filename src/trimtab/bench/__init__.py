"""From a suite to results: what is run is a RunSpec, what comes out a RunResult, kept in a RunStore."""
