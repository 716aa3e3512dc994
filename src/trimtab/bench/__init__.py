"""From a suite to results: a RunSpec is run, a RunResult comes out, a RunStore keeps it."""
