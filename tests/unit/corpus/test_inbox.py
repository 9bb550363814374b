"""What an inbox holds that is new: by content, and only what is complete."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest

from apportion.corpus.inbox import look

NOW = 2_000_000_000.0


def drop(folder: Path, name: str, content: bytes, age_s: float = 60) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (NOW - age_s, NOW - age_s))
    return path


def test_a_file_still_being_written_waits(tmp_path: Path) -> None:
    done = drop(tmp_path, "done.pdf", b"%PDF-1")
    drop(tmp_path, "writing.pdf", b"%PDF-2", age_s=1)
    drop(tmp_path, "loading.pdf.part", b"%PDF-3")
    drop(tmp_path, ".hidden.pdf", b"%PDF-4")
    first = look(tmp_path, {}, set(), NOW)
    assert first.paths == [done]
    second = look(tmp_path, first.seen, set(), NOW + 60)
    assert [path.name for path in second.paths] == ["writing.pdf"]


def test_the_same_bytes_run_once_and_changed_bytes_again(tmp_path: Path) -> None:
    drop(tmp_path, "a.pdf", b"%PDF-1")
    first = look(tmp_path, {}, set(), NOW)
    drop(tmp_path / "deeper", "b.pdf", b"%PDF-1")
    again = look(tmp_path, first.seen, set(), NOW)
    assert again.paths == []
    drop(tmp_path, "a.pdf", b"%PDF-1 changed")
    changed = look(tmp_path, again.seen, set(), NOW)
    assert [path.name for path in changed.paths] == ["a.pdf"]
    assert changed.batch != first.batch
    assert look(tmp_path, {}, {first.hashes[0], changed.hashes[0]}, NOW).paths == []


def test_a_batch_is_named_by_its_contents(tmp_path: Path) -> None:
    drop(tmp_path / "one", "a.pdf", b"%PDF-1")
    drop(tmp_path / "one", "b.pdf", b"%PDF-2")
    drop(tmp_path / "two", "x.pdf", b"%PDF-2")
    drop(tmp_path / "two", "y.pdf", b"%PDF-1")
    names = {look(tmp_path / part, {}, set(), NOW).batch for part in ("one", "two")}
    assert len(names) == 1
    assert look(tmp_path / "absent", {}, set(), NOW).paths == []


def test_the_sensor_asks_for_a_run_once(
    warehouse_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from orchestration.sensors import inbox

    folder = tmp_path / "inbox"
    monkeypatch.setenv("APPORTION_INBOX", str(folder))
    path = folder / "a.pdf"
    folder.mkdir()
    path.write_bytes(b"%PDF-1")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    with dg.DagsterInstance.ephemeral() as instance, dg.build_sensor_context(instance=instance) as context:
        first = inbox(context)
    assert isinstance(first, dg.SensorResult)
    (request,) = first.run_requests or []
    assert request.partition_key == request.run_key
    assert request.partition_key.startswith("inbox:")
    assert request.run_config["resources"]["filing_files"]["config"]["paths"] == [str(path)]
    with dg.DagsterInstance.ephemeral() as instance:
        with dg.build_sensor_context(instance=instance, cursor=first.cursor) as context:
            second = inbox(context)
        # A tick that failed before its requests were taken keeps the old cursor, and asks again for the same run.
        with dg.build_sensor_context(instance=instance) as context:
            repeated = inbox(context)
    assert isinstance(second, dg.SensorResult)
    assert not second.run_requests
    assert isinstance(repeated, dg.SensorResult)
    assert [r.run_key for r in repeated.run_requests or []] == [request.run_key]


@pytest.mark.parametrize(
    ("day", "utc_hour"),
    [("2026-01-15", 11), ("2026-07-15", 10), ("2026-03-08", 10), ("2026-11-01", 11), ("2026-11-02", 11)],
)
def test_the_schedule_runs_at_six_in_new_york_whatever_the_season(day: str, utc_hour: int) -> None:
    from dagster._utils.schedules import cron_string_iterator

    from orchestration.schedules import daily_edgar

    begin = datetime.fromisoformat(day).replace(tzinfo=UTC)
    moment = next(
        cron_string_iterator(
            begin.timestamp(), str(daily_edgar.cron_schedule), str(daily_edgar.execution_timezone)
        )
    )
    assert moment.astimezone(UTC) == begin + timedelta(hours=utc_hour)
    request = daily_edgar(dg.build_schedule_context(scheduled_execution_time=moment))
    assert isinstance(request, dg.RunRequest)
    assert request.partition_key == (begin - timedelta(days=1)).date().isoformat()
