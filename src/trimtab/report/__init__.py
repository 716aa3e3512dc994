"""From a store of results to tables, plots and one page; knows results only, and no torch."""
