"""Schedules. Each is off until somebody turns it on in `apportion ui`."""

from __future__ import annotations

import dagster as dg

from assets.edgar import ZONE
from orchestration.jobs import list_edgar

daily_edgar = dg.build_schedule_from_partitioned_job(
    list_edgar,
    name="daily_edgar",
    # The partitions' zone is New York's, so this is six in the morning there in summer and in winter.
    hour_of_day=6,
    description=f"Yesterday's index of EDGAR, at six in the morning ({ZONE}).",
)

schedules = [daily_edgar]
