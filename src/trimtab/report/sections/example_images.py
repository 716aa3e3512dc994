"""What the networks saw: one image in every domain."""

import base64
from collections.abc import Mapping

from trimtab.bench.example_files import Shown
from trimtab.bench.titles import data_title
from trimtab.report.markup import Markup, element
from trimtab.report.sections.layout import section

ImageFiles = Mapping[Shown, Mapping[str, bytes]]
"""PNG files by data and severity, then by domain."""


def example_images(files: ImageFiles) -> Markup | None:
    """The section; None without images."""
    strips = [_strip(data, severity, found) for (data, severity), found in files.items() if found]
    if not strips:
        return None
    return section(
        "images",
        "What the networks saw",
        "An image of each domain, in the order of the stream: the same one where domains are "
        "corruptions of the same images.",
        *strips,
    )


def _strip(data: str, severity: int, files: Mapping[str, bytes]) -> Markup:
    images = [
        element(
            "figure",
            element(
                "img",
                src=f"data:image/png;base64,{base64.b64encode(file).decode()}",
                alt=f"{data_title(data)}, {_words(domain)}",
            ),
            element("figcaption", _words(domain)),
        )
        for domain, file in files.items()
    ]
    title = element("h3", f"{data_title(data)}, severity {severity}", class_="protocol")
    return element("div", title, element("div", *images, class_="film"))


def _words(domain: str) -> str:
    return domain.replace("_", " ")
