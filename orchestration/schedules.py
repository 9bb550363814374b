"""Schedules. Each is off until somebody turns it on in `apportion ui`."""

from datetime import timedelta
from zoneinfo import ZoneInfo

import dagster as dg

from assets.edgar import ZONE
from orchestration.jobs import list_edgar


@dg.schedule(job=list_edgar, cron_schedule="0 6 * * *", execution_timezone=ZONE)
def daily_edgar(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
    """Yesterday's index of EDGAR, at six in the morning in New York, in summer and in winter."""
    here = context.scheduled_execution_time.astimezone(ZoneInfo(ZONE))
    day = (here.date() - timedelta(days=1)).isoformat()
    return dg.RunRequest(run_key=f"edgar_index:{day}", partition_key=day)


schedules = [daily_edgar]
