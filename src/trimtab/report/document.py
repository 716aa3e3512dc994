"""The frame of every page: one file that needs nothing else."""

from collections.abc import Mapping
from importlib import resources

from trimtab.report.markup import Markup, element, together
from trimtab.version import __version__

STYLES = ("style.css", "widgets.css")
SCRIPTS = ("script.js", "tables.js", "tips.js", "scrolling.js")


def document(title: str, kind: str, head: Markup, main: Markup, links: Mapping[str, str]) -> str:
    """A whole page.

    Args:
        title: What it is about.
        kind: What sort of page it is, beside the logo.
        head: Under the title: the most important numbers.
        main: The sections.
        links: Words by the anchors of sections; those of sections that are not there are left out.
    """
    found = {anchor: word for anchor, word in links.items() if f'<section id="{anchor}"' in main}
    toggle = element(
        "button", "Light / dark", type="button", class_="theme", aria_label="Light or dark colours"
    )
    header = element(
        "header",
        element("div", element("p", _logo(), kind, class_="brand"), toggle),
        element("h1", title),
        head,
        element(
            "nav",
            *(element("a", word, href=f"#{anchor}") for anchor, word in found.items()),
            aria_label="Sections",
        ),
    )
    footer = element("footer", f"Written by trimtab {__version__}; needs no network.")
    return _with_style(f"{title} · {kind}", together(header, main, _dialog(), footer))


def _logo() -> Markup:
    """A rudder, and the small flap that steers it."""
    rudder = element("path", d="M3 2h7v20H7C4.500 22 3 20 3 17Z", class_="rudder")
    flap = element("path", d="M12 13l7 2.500-1.500 6.500H12Z", class_="flap")
    return element("svg", rudder, flap, viewbox="0 0 22 24", class_="logo", aria_hidden="true")


def _dialog() -> Markup:
    close = element("button", "Close", type="button", class_="close")
    return element("dialog", close, element("div", class_="shown"), aria_label="Runs of a cell")


def _with_style(title: str, body: Markup) -> str:
    """The frame around the body. The policy makes the browser refuse any request."""
    files = resources.files("trimtab.report")
    style, script = (
        Markup("\n".join((files / name).read_text(encoding="utf-8") for name in names))
        for names in (STYLES, SCRIPTS)
    )
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", style),
    )
    whole = element("html", head, element("body", body, element("script", script)), lang="en")
    return f"<!doctype html>\n{whole}\n"
