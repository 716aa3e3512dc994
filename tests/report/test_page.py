"""The page: complete, self-contained, and closed to anybody's text."""

import re
from html.parser import HTMLParser

import pytest

from report import stores
from trimtab.bench.example_files import Shown
from trimtab.bench.result import RunResult
from trimtab.report.comparison import compare
from trimtab.report.metrics import DOMAIN_ERROR
from trimtab.report.page import LINKS, page

EMPTY = {"meta", "br", "wbr", "img", "input", "col"}
NASTY = "tent</script><img src=x onerror=alert(1)>"


class Reader(HTMLParser):
    """Checks that tags are closed in order; keeps ids, links and hidden parts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def values(self, attribute: str) -> list[str]:
        return [value for _, found in self.tags if (value := found.get(attribute)) is not None]


def test_all_sections_are_there_and_linked() -> None:
    runs = stores.three_methods()
    images = {Shown("shapes", 5): {"fog": b"png", "<b>snow": b"png"}}
    made = page(runs, "store", comparison=compare(runs, runs), against="old", images=images)
    reader = Reader(made)
    ids = reader.values("id")
    assert set(LINKS) <= set(ids)
    assert len(ids) == len(set(ids))
    links = [link for link in reader.values("href") if link.startswith("#")]
    assert {f"#{name}" for name in LINKS} <= set(links)
    assert {link[1:] for link in links} <= set(ids)


def test_every_cell_leads_to_the_commands_of_its_runs() -> None:
    runs = stores.three_methods()
    text = page(runs, "store")
    for run in runs:
        assert f"<code>{run.spec.command}</code>" in text


def test_nothing_is_fetched() -> None:
    text = page(stores.three_methods(), "store", images={Shown("shapes", 5): {"fog": b"png"}})
    assert "default-src &#x27;none&#x27;" in text
    assert text.count('<img src="data:image/png;base64,') == 1
    text = text.replace("http://www.w3.org/2000/svg", "").replace('<img src="data:', "")
    assert not re.search(r"https?:|@import|url\(|<link|<img|<iframe| src=", text)


def test_a_users_text_stays_text() -> None:
    runs = [
        stores.done(stores.spec(NASTY, options={"<b>": "</style>"}, scenario="<em>"), 0.2),
        stores.failed(stores.spec(NASTY, model="<u>", data="<s>"), error="<script>alert(2)"),
    ]
    reader = Reader(page(runs, "<h1>"))
    tags = [tag for tag, _ in reader.tags]
    assert tags.count("script") == tags.count("style") == 1
    assert not {"img", "em", "u", "s"} & set(tags)
    assert tags.count("h1") == 1
    assert "onerror" not in {name for _, found in reader.tags for name in found}


@pytest.mark.parametrize(
    "runs",
    [
        [stores.done(stores.spec(), 0.2)],
        [stores.done(stores.spec("source"), 0.0, source_error=0.0)],
        [stores.failed(stores.spec())],
        [stores.done(stores.spec(), 0.2, curve=[], reliability=[], errors={})],
        [stores.done(stores.spec(), 0.2, multiple=0.0)],
        [stores.done(stores.spec(), 1.0, curve=[(600, 1.0, 1.0)], collapsed=True)],
        [stores.done(stores.spec(batch_size=size), 0.2) for size in (1, 64)],
    ],
    ids=["one", "perfect", "failed", "bare", "free", "hopeless", "two protocols"],
)
def test_few_runs_make_a_page(runs: list[RunResult]) -> None:
    reader = Reader(page(runs, "store"))
    assert "table" in reader.values("id")


def test_failed_and_collapsed_runs_are_named_with_their_errors() -> None:
    runs = [
        stores.failed(stores.spec("sar"), error="ValueError: no gradient"),
        stores.done(stores.spec("tent"), 0.9, collapsed=True),
    ]
    text = page(runs, "store")
    assert "ValueError: no gradient" in text
    assert "Failed: 1" in text
    assert "Collapsed: 1" in text


def test_two_protocols_are_told_apart_wherever_numbers_stand() -> None:
    runs = [stores.done(stores.spec(batch_size=size), 0.2) for size in (1, 64)]
    text = page(runs, "store")
    assert text.count("severity 5 · all images per domain · batches of 1<") > 3


def test_two_sets_of_weights_are_told_apart_in_the_head_of_the_table() -> None:
    text = page([stores.done(stores.spec(weights=name * 8), 0.2) for name in "ab"], "store")
    for name in "ab":
        assert f"shapes · tiny · weights {name * 8}</th>" in text


def test_what_was_run_is_told() -> None:
    text = page(stores.three_methods(), "store")
    for fact in ("Abacus", "2.13.0", stores.WEIGHTS, "2026-01-05 09:00", "0, 1"):
        assert f">{fact}<" in text


def test_the_average_that_is_asked_for_is_shown_first() -> None:
    text = page(stores.three_methods(), "store", DOMAIN_ERROR)
    shown = [
        found["data-metric"]
        for _, found in Reader(text).tags
        if "data-metric" in found and "hidden" not in found
    ]
    assert shown == ["domain_error"]


def test_an_expected_calibration_error_is_noted_beside_the_number_and_the_plot() -> None:
    note, mark = "a large calibration error is expected of it", ">†</sup>"
    text = page([stores.done(stores.spec("roid"), 0.2)], "logits")
    assert note in text
    assert text.count(mark) == 2  # of ECE and NLL
    posterior = stores.spec("roid", options={"prior": "posterior"})
    for spec in (posterior, stores.spec("tent")):
        text = page([stores.done(spec, 0.2)], "others")
        assert note not in text
        assert mark not in text


def test_every_method_has_a_word_and_a_link_to_it() -> None:
    text = page([*stores.three_methods(), stores.done(stores.spec("mine:method"), 0.2)], "store")
    for name in ("roid", "tent", "source"):
        assert f'href="#method-{name}"' in text
        assert f'id="method-{name}"' in text
    assert "Not one of the methods in the package" in text


def test_settings_have_the_names_that_readers_know() -> None:
    run = stores.spec("roid", data="fashion_mnist", model="fashion_resnet20_bn")
    text = page([stores.done(run, 0.2)], "store")
    assert "Fashion-MNIST · ResNet-20 (BN)" in text
    assert "one domain after the other, classes in random order" in text
    assert "--model fashion_resnet20_bn" in text  # commands keep the words that are typed
