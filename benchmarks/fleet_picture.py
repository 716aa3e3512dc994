"""Draws docs/fleets.svg from benchmarks/results/fleet.json."""

import json
import math
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
COLORS = {"one": "#9aa0a6", "fleet": "#1a73e8", "alone": "#d93025"}
WORDS = {
    "one": "one stream, all samples in one batch",
    "fleet": "a fleet",
    "alone": "the same streams one by one",
}
LEFT, WIDTH, ROW = 210, 460, 15


def bars(cases: dict[str, dict[str, Any]], top: int) -> list[str]:
    """Three bars a case: milliseconds of processor time of a step."""
    most = max(case[f"{name}_ms"] for case in cases.values() for name in COLORS)
    drawn = []
    for number, (title, case) in enumerate(cases.items()):
        y = top + number * (3 * ROW + 12)
        drawn.append(text(LEFT - 8, y + 2 * ROW - 4, title, "end"))
        for place, (name, color) in enumerate(COLORS.items()):
            value = case[f"{name}_ms"]
            width = WIDTH * value / most
            here = y + place * ROW
            drawn.append(
                f'<rect x="{LEFT}" y="{here}" width="{width:.1f}" height="{ROW - 3}" '
                f'fill="{color}"/>'
            )
            drawn.append(text(LEFT + width + 5, here + 10, f"{value:.0f} ms"))
    return drawn


def text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{words}</text>'


def legend() -> list[str]:
    drawn, x = [], LEFT
    for name, color in COLORS.items():
        drawn.append(f'<rect x="{x}" y="8" width="11" height="11" fill="{color}"/>')
        drawn.append(text(x + 16, 18, WORDS[name]))
        x += 60 + 6 * len(WORDS[name])
    return drawn


def panel(
    title: str, lines: dict[str, list[tuple[float, float]]], colors: dict[str, str], x: int, y: int
) -> list[str]:
    """Values against the number of streams, both on logarithmic axes, in a box of 280 x 150."""
    points = [point for line in lines.values() for point in line]
    (left, right), (low, high) = ((min(axis), max(axis)) for axis in zip(*points, strict=True))

    def place(streams: float, value: float) -> tuple[float, float]:
        across = math.log(streams / left) / max(math.log(right / left), 1e-9)
        up = math.log(value / low) / max(math.log(high / low), 1e-9)
        return x + 280 * across, y + 150 - 150 * up

    drawn = [text(x, y - 10, title)]
    drawn.append(f'<rect x="{x}" y="{y}" width="280" height="150" fill="none" stroke="#ccc"/>')
    for name, line in lines.items():
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in (place(*point) for point in line))
        drawn.append(
            f'<polyline points="{path}" fill="none" stroke="{colors[name]}" stroke-width="2"/>'
        )
    drawn += [text(x, y + 164, f"{left:g} streams"), text(x + 280, y + 164, f"{right:g}", "end")]
    drawn += [
        text(x - 4, y + 150, f"{low:,.0f}", "end"),
        text(x - 4, y + 10, f"{high:,.0f}", "end"),
    ]
    return drawn


def throughput(growth: dict[str, dict[str, Any]], x: int, y: int) -> list[str]:
    """Samples per second of processor time: fleet, one by one, and the limit, one batch."""
    lines = {
        name: [
            (int(count), 1000 * int(count) / case[f"{name}_ms"]) for count, case in growth.items()
        ]
        for name in COLORS
    }
    return panel("samples per second, TENT, GN ResNet-20, single samples", lines, COLORS, x, y)


def memory(found: dict[str, dict[str, Any]], x: int, y: int) -> list[str]:
    """Megabytes beyond the backbone: states of streams, and a copy of the model for each."""
    cases = list(found.values())
    lines = {
        "fleet": [(case["streams"], case["tensor_megabytes"]) for case in cases],
        "alone": [
            (case["streams"], case["streams"] * case["backbone_megabytes"]) for case in cases
        ],
    }
    return panel("ROID on a ResNet-50, megabytes: a fleet; a copy for each", lines, COLORS, x, y)


def main() -> None:
    found = json.loads((HERE / "results" / "fleet.json").read_text())
    cases = dict(found.get("speed", {}))
    below = 60 + len(cases) * (3 * ROW + 12)
    body = [*legend(), *bars(cases, 34)]
    if "growth" in found:
        body += throughput(found["growth"], 60, below)
    if len(found.get("memory", {})) > 1:
        body += memory(found["memory"], 440, below)
    height = below + 180
    lines = "\n".join(body)
    (HERE.parent / "docs" / "fleets.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 780 {height}" '
        f'font-family="sans-serif" font-size="11">\n'
        f"<title>Processor time of a step: one stream, a fleet, one by one</title>\n"
        f'<rect width="780" height="{height}" fill="white"/>\n{lines}\n</svg>\n'
    )


if __name__ == "__main__":
    main()
