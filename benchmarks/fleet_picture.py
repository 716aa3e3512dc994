"""Draws docs/fleets.svg from benchmarks/results/fleet.json."""

import json
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


def main() -> None:
    found = json.loads((HERE / "results" / "fleet.json").read_text())
    cases = dict(found.get("speed", {}))
    growth = {f"GN ResNet-20, {n} streams, tent": c for n, c in found.get("growth", {}).items()}
    cases |= growth
    height = 40 + len(cases) * (3 * ROW + 12)
    body = "\n".join([*legend(), *bars(cases, 34)])
    (HERE.parent / "docs" / "fleets.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 780 {height}" '
        f'font-family="sans-serif" font-size="11">\n'
        f"<title>Processor time of a step: one stream, a fleet, one by one</title>\n"
        f'<rect width="780" height="{height}" fill="white"/>\n{body}\n</svg>\n'
    )


if __name__ == "__main__":
    main()
