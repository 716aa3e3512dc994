"""The sentence on top of a report says what the numbers say."""

from report import stores
from trimtab.report.headline import headline, headlines
from trimtab.report.page import page
from trimtab.report.table import tables


def test_the_best_and_the_harmful_are_named() -> None:
    (table,) = tables(stores.three_methods())
    assert headline(table) == (
        "ROID is best on average of 2 settings, 22.5 points below the source model; "
        "TENT is worse than no adaptation in 1 of 2."
    )


def test_methods_that_read_equal_are_level() -> None:
    runs = [stores.done(stores.spec(method), error) for method, error in
            {"source": 0.5, "roid": 0.3001, "tent": 0.3}.items()]  # fmt: skip
    (table,) = tables(runs)
    assert headline(table).startswith(("ROID and TENT are level", "TENT and ROID are level"))
    assert "in the one setting, 20.0 points below" in headline(table)


def test_nothing_that_helps_is_said_as_such() -> None:
    (table,) = tables([stores.done(stores.spec("tent"), 0.6)])
    assert headline(table) == (
        "No method is better than no adaptation on average; "
        "TENT is worse than no adaptation in 1 of 1."
    )


def test_a_method_with_fewer_settings_is_not_the_best_of_all() -> None:
    (table,) = tables([*stores.three_methods(), stores.done(stores.spec("bn1"), 0.01)])
    assert headline(table).startswith("ROID is best")


def test_many_harmful_methods_are_counted() -> None:
    names = ["tent", "bn1", "eta", "sar", "lame"]
    (table,) = tables([stores.done(stores.spec(name), 0.6) for name in names])
    assert headline(table).endswith("2 other methods are worse somewhere, too.")


def test_without_methods_there_is_no_sentence() -> None:
    (table,) = tables([stores.failed(stores.spec())])
    assert headline(table) == ""


def test_every_protocol_has_its_own_sentence_on_the_page() -> None:
    runs = [stores.done(stores.spec("roid", batch_size=size), 0.3) for size in (10, 20)]
    found = headlines(tables(runs))
    assert len(found) == 2
    assert all("batches of" in sentence for sentence in found)
    assert page(runs, "two").count('class="headline"') == 2
