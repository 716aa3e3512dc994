"""Compare three methods on one stream: a table, and a page of plots.

    python examples/compare_methods.py

The images come with the package; ``data=`` and ``model=`` take others (docs/benchmark.md).
"""

# %%
from pathlib import Path

from trimtab.bench import RunSpec, RunStore
from trimtab.bench.runner import run
from trimtab.report.page import page

METHODS = ("source", "bn1", "roid")

# %% One run a method: the same stream, since the seed is the same.
store = RunStore("comparison")
for method in METHODS:
    spec = RunSpec(
        method=method,
        model="fashion_resnet20_bn",
        data="fashion_mnist",
        scenario="continual",
        images_per_domain=20,
        batch_size=50,
    )
    store.put(run(spec))

# %% The numbers. Failed runs have no scores, and say why.
results = list(store)
for result in results:
    if result.scores is None:
        print(f"{result.spec.method}: {result.error}")
    else:
        print(f"{result.spec.method}: {result.scores.error:.1%} wrong")

# %% The plots: error along the stream, by domain, against cost; calibration. One file, no network.
plots = Path("comparison") / "report.html"
plots.write_text(page(results, "Three methods on corrupted clothes"), encoding="utf-8")
print("open", plots.resolve())
