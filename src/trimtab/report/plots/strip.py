"""A method's changes against the source, one dot a setting, on one line."""

from trimtab.bench.titles import data_title, model_title
from trimtab.report.markup import Markup, element
from trimtab.report.plots.marks import Mark
from trimtab.report.plots.scale import Scale, span
from trimtab.report.ranking import Standing
from trimtab.report.settings import Setting

WIDTH, HEIGHT, MARGIN = 320, 26, 14


def strip_scale(standings: list[Standing]) -> Scale:
    """One scale for all lines; the source, at zero, is always on it."""
    values = [change for standing in standings for change in standing.changes.values()]
    room = 0.15 * (max(0.0, *values) - min(0.0, *values))  # for the side of harm, if it is empty
    return Scale(*span([0.0, room, *values], least=2.0), MARGIN, WIDTH - MARGIN)


def strip_axis(scale: Scale) -> Markup:
    """The numbers above the lines."""
    texts = [
        element(
            "text", f"{tick:+g}" if tick else "source", class_="tick middle", x=scale(tick), y=16
        )
        for tick in scale.ticks
    ]
    return _svg("Change of the error against the source, in points", *texts)


def strip(standing: Standing, mark: Mark, scale: Scale) -> Markup:
    """The line of one method; its worst setting is the large dot."""
    changes, middle = standing.changes, HEIGHT / 2
    zone = element(
        "rect",
        class_="harm",
        x=scale(0),
        y=0,
        width=max(0.0, WIDTH - scale(0)),
        height=HEIGHT,
    )
    zero = element("line", class_="zero", x1=scale(0), x2=scale(0), y1=0, y2=HEIGHT)
    low, high = scale(min(changes.values())), scale(max(changes.values()))
    bar = element("line", class_=f"range {mark.colour}", x1=low, x2=high, y1=middle, y2=middle)
    dots = [
        mark.point(
            scale(change),
            middle,
            5.5 if setting == standing.worst else 3,
            element("title", f"{_place(setting)}: {change:+.1f} points"),
        )
        for setting, change in changes.items()
    ]
    return _svg(
        f"{standing.row.label}: changes by setting",
        zone,
        zero,
        element("g", bar, *dots, data_method=mark.name),
    )


def _place(setting: Setting) -> str:
    return f"{data_title(setting.data)}, {model_title(setting.model)}, {setting.title}"


def _svg(summary: str, *content: Markup) -> Markup:
    return element(
        "svg",
        element("title", summary),
        *content,
        class_="strip",
        role="img",
        viewbox=f"0 0 {WIDTH} {HEIGHT}",
    )
