"""The page of tables says what the contracts say."""

from __future__ import annotations

from warehouse.docs import TARGET, page


def test_the_page_is_up_to_date() -> None:
    assert TARGET.read_text(encoding="utf-8") == page(), "run `make docs`"
