"""A histogram: a bar for each class, and the height that all would have if they were equal."""

from collections.abc import Sequence

from trimtab.report.markup import Markup, element
from trimtab.report.plots.scale import ticks

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 300, 110, 28, 18, 18


def histogram(title: str, counts: Sequence[float], name: str) -> Markup:
    """Shares of the whole in %, from left to right.

    Args:
        title: What a screen reader says.
        counts: How often each class is there, at least one of them.
        name: What stands from left to right.
    """
    shares = [100 * count / max(sum(counts), 1e-9) for count in counts]
    most, floor = max(*shares, 100 / len(shares), 1e-9), HEIGHT - BOTTOM
    scale = (floor - TOP) / most
    step = (WIDTH - LEFT) / len(shares)
    bars = [
        element(
            "rect",
            element("title", f"class {number}: {share:.1f} %"),
            class_="cooler",
            x=LEFT + step * number + 0.08 * step,
            y=floor - scale * share,
            width=0.84 * step,
            height=scale * share,
        )
        for number, share in enumerate(shares)
    ]
    grid = [_level(floor - scale * tick, f"{tick:g}") for tick in ticks(0, most, 3)]
    equal = floor - scale * 100 / len(shares)
    return element(
        "svg",
        element("title", title),
        *grid,
        *bars,
        element("line", class_="zero", x1=LEFT, x2=WIDTH, y1=equal, y2=equal),
        element("text", "share in %", class_="axis", x=0, y=10),
        element("text", name, class_="axis end", x=WIDTH, y=HEIGHT - 4),
        class_="plot",
        role="img",
        viewbox=f"0 0 {WIDTH} {HEIGHT}",
    )


def _level(y: float, words: str) -> Markup:
    line = element("line", class_="grid", x1=LEFT, x2=WIDTH, y1=y, y2=y)
    text = element("text", words, class_="tick end", x=LEFT - 6, y=y + 3.5)
    return element("g", line, text)
