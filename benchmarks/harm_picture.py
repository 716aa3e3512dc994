"""Draws docs/harm.svg: error along hostile streams, and where the guard let the source answer.

``python benchmarks/harm_picture.py STORE`` takes, of each kind of stream in the store, the method
and network that adapting without a guard harmed most, and one stream where adapting helps.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from trimtab.reproduce.harm_scores import CURVE_BATCHES, HarmScores

DOCS = Path(__file__).parent.parent / "docs"
COLORS = {"source": "#9aa0a6", "without guard": "#d93025", "with guard": "#1a73e8"}
WIDTH, HEIGHT, LEFT, TOP, GAP, COLUMNS, PANELS = 250, 110, 34, 52, 62, 3, 9

Found = tuple[dict[str, Any], HarmScores]


def chosen(store: Path) -> list[Found]:
    """The streams to draw: the worst of each kind without a guard, and the best of all."""
    studies = [json.loads(path.read_text()) for path in (store / "studies").glob("*.json")]
    found = [(s["settings"], HarmScores(s["record"])) for s in studies if s["kind"] == "harm"]
    found.sort(key=lambda pair: pair[1].whole("plain") or 0.0)
    worst = {what["stream"]: (what, scores) for what, scores in found}
    ranked = sorted(worst.values(), key=lambda pair: -(pair[1].whole("plain") or 0.0))
    return [*ranked[: PANELS - 1], found[0]]


def panel(number: int, what: dict[str, Any], scores: HarmScores) -> list[str]:
    """One stream: three lines, and a band where the source answered under guard."""
    x = LEFT + number % COLUMNS * (WIDTH + GAP)
    y = TOP + number // COLUMNS * (HEIGHT + GAP)
    curves = scores.curves()
    most = max(place for points in curves.values() for place, _ in points)
    drawn = [
        text(x, y - 18, f"{what['stream']}: {what['method']}"),
        text(x, y - 6, f"{what['model']}, seed {what['seed']}", size=9),
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" fill="#f6f7f8"/>',
        *_bands(x, y, scores, most),
        *(text(x - 4, y + HEIGHT * (1 - v / 100) + 3, str(v), "end", 9) for v in (0, 50, 100)),
        text(x + WIDTH, y + HEIGHT + 11, f"{most:.0f} samples", "end", 9),
    ]
    for name, points in curves.items():
        path = " ".join(
            f"{x + WIDTH * a / most:.1f},{y + HEIGHT * (1 - b / 100):.1f}" for a, b in points
        )
        drawn.append(
            f'<polyline points="{path}" fill="none" stroke="{COLORS[name]}" stroke-width="1.6"/>'
        )
    return drawn


def _bands(x: float, y: float, scores: HarmScores, most: float) -> list[str]:
    """Where the source answered, in steps of the curves' points; scored samples count."""
    scored, flags = scores.record["scored"], scores.record["source_predicts"]
    drawn, seen = [], 0
    for start in range(0, len(scored), CURVE_BATCHES):
        part = slice(start, start + CURVE_BATCHES)
        width = WIDTH * sum(scored[part]) / most
        if any(flags[part]) and width:
            left = x + WIDTH * seen / most
            drawn.append(
                f'<rect x="{left:.1f}" y="{y}" width="{width:.1f}" height="{HEIGHT}" '
                'fill="#d2e3fc"/>'
            )
        seen += sum(scored[part])
    return drawn


def text(x: float, y: float, words: str, anchor: str = "start", size: int = 11) -> str:
    place = f'x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" font-size="{size}"'
    return f"<text {place}>{words}</text>"


def legend() -> list[str]:
    drawn, x = [], LEFT
    for name, color in (*COLORS.items(), ("the source answers, under guard", "#d2e3fc")):
        drawn.append(f'<rect x="{x}" y="6" width="11" height="11" fill="{color}"/>')
        drawn.append(text(x + 16, 16, name))
        x += 50 + 6 * len(name)
    return drawn


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path)
    found = chosen(parser.parse_args().store)
    body = [*legend(), *(line for n, pair in enumerate(found) for line in panel(n, *pair))]
    width = LEFT + COLUMNS * (WIDTH + GAP)
    height = TOP + -(-len(found) // COLUMNS) * (HEIGHT + GAP)
    (DOCS / "harm.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="11">\n'
        "<title>Error in % along hostile streams, with and without the guard</title>\n"
        f'<rect width="{width}" height="{height}" fill="white"/>\n' + "\n".join(body) + "\n</svg>\n"
    )


if __name__ == "__main__":
    main()
