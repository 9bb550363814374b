"""Joining small files: many batches leave many, and every reader opens each of them. Rows stay what they were."""

from __future__ import annotations

import json
import random
import time

from deltalake import CommitProperties, DeltaTable
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError

from warehouse.store import FILE_BYTES, PROVENANCE_KEY, Store, StoreError, contract, layout

ATTEMPTS = 12


def compact(store: Store, name: str) -> tuple[int, int]:
    """Join a table's small files, in one commit; earlier snapshots keep the old files until vacuum.

    A writer that commits meanwhile goes first: its rows are taken up by another attempt.

    Returns:
        How many files went, and how many came in their place; zeros where nothing was to be joined.

    Raises:
        StoreError: the table can't be read or written, or other writers never paused.
    """
    address = store.address(name)
    made_by = json.dumps({"arguments": {"kind": "compaction"}})
    for attempt in range(ATTEMPTS):
        try:
            done = DeltaTable(address, storage_options=store.storage_options).optimize.compact(
                target_size=FILE_BYTES,
                # One at a time: memory stays that of a file, whatever the table's size.
                max_concurrent_tasks=1,
                writer_properties=layout(contract(name)),
                commit_properties=CommitProperties(custom_metadata={PROVENANCE_KEY: made_by}),
            )
        except TableNotFoundError:
            return 0, 0
        except CommitFailedError:
            time.sleep(random.uniform(0.01, 0.05) * (attempt + 1))  # noqa: S311 - jitter
            continue
        except (DeltaError, OSError) as error:
            raise StoreError(f"table {name} at {address} cannot be compacted: {error}") from error
        return done["numFilesRemoved"], done["numFilesAdded"]
    raise StoreError(f"table {name} is being written; start `apportion vacuum` again when runs are done")
