from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apportion.llm.limits import ModelLimits, RateWindow


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 20).map(lambda quarter: quarter / 4), st.integers(1, 120)), max_size=60
    ),
    st.integers(1, 6),
    st.integers(100, 300),
)
def test_no_window_ever_holds_more_than_the_limits(
    arrivals: list[tuple[float, int]], requests: int, tokens: int
) -> None:
    window = RateWindow(ModelLimits(requests_per_minute=requests, tokens_per_minute=tokens), window_s=10.0)
    now, sent = 0.0, []
    for gap, size in arrivals:
        now += gap
        while (delay := window.delay(size, now)) > 0:
            now += delay
        window.note(size, now)
        sent.append((now, size))
    for at, _ in sent:
        within = [size for when, size in sent if at - 10.0 < when <= at]
        assert len(within) <= requests
        assert sum(within) <= tokens or len(within) == 1


def test_a_pause_holds_everything_back() -> None:
    window = RateWindow(ModelLimits())
    assert window.delay(10, 0.0) == 0.0
    window.pause(3.0, 0.0)
    window.pause(1.0, 0.0)
    assert window.delay(10, 1.0) == 2.0


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="requests_per_minute is 0"):
        ModelLimits(requests_per_minute=0)
