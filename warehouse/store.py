"""Delta tables: slices go in, snapshots come out.

A write replaces exactly its own slice, in one commit, and only if the rows differ from what is there.
Provenance is the commit's metadata, never a column, so that rows are the same bytes from run to run.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, WriterProperties, write_deltalake
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError

from warehouse.contracts import TABLES
from warehouse.paths import warehouse_root
from warehouse.schema import PARTITION_KEY, ContractError, Table

Slice = Mapping[str, str]

COMMIT_ATTEMPTS = 12
PROVENANCE_KEY = "apportion"

FILE_BYTES = 64 * 1024 * 1024
"""About how large files become: what a stream of any length holds in memory, and what a write to one slice of a file
writes anew."""

ROWS = 131_072
ROWS_OF_TEXT = 16_384
"""Rows that are written, and can be skipped, together; rows with pages of text are long."""


class StoreError(RuntimeError):
    """The store cannot be read or written; the message says where and what to do."""


@dataclass(frozen=True)
class Receipt:
    """What a write did: the table's version afterwards, the slice's rows, whether anything was committed."""

    table: str
    version: int
    rows: int
    changed: bool


def contract(name: str) -> Table:
    """The contract of a table, or a ValueError with the nearest names."""
    import difflib

    if name in TABLES:
        return TABLES[name]
    near = difflib.get_close_matches(name, TABLES, n=2)
    hint = f"; did you mean {' or '.join(near)}?" if near else f"; tables: {', '.join(sorted(TABLES))}"
    raise ValueError(f"there is no table {name!r}{hint}")


def literal(value: str) -> str:
    """A text as an SQL literal."""
    return "'" + value.replace("'", "''") + "'"


def predicate(where: Slice) -> str:
    """The slice as an SQL condition."""
    return " AND ".join(f"{name} = {literal(value)}" for name, value in where.items())


def layout(table: Table) -> WriterProperties:
    """How a table's files are laid out."""
    return WriterProperties(
        compression="ZSTD", max_row_group_size=ROWS_OF_TEXT if "text" in table.schema else ROWS
    )


class Store:
    """The tables under one root, a folder or an object store's address."""

    def __init__(
        self, root: str | Path | None = None, storage_options: Mapping[str, str] | None = None
    ) -> None:
        self.root = str(root) if root is not None else warehouse_root()
        misread = next((c for c in "%[]#?" if c in self.root), None)
        if misread and not self.is_remote:
            raise StoreError(
                f"{self.root}: Delta's writer misreads {misread!r} in a path; put the warehouse in another folder"
            )
        self.storage_options = dict(storage_options) if storage_options else None

    def address(self, name: str) -> str:
        """Where a table lies, as a URI: what a local path may hold is then escaped once, and only once."""
        table = contract(name).name
        if self.is_remote:
            return f"{self.root}/tables/{table}"
        return (Path(self.root).resolve() / "tables" / table).as_uri()

    @property
    def is_remote(self) -> bool:
        """Whether the tables lie in an object store."""
        return "://" in self.root

    def write_slice(
        self,
        name: str,
        rows: pl.DataFrame | Iterable[pl.DataFrame],
        where: Slice,
        provenance: Mapping[str, Any] | None = None,
        *,
        force: bool = False,
    ) -> Receipt:
        """Replace one slice of a table.

        Args:
            name: the table.
            rows: the slice's rows, in the contract's types and order: a frame, or a stream of frames.
            where: the slice: a value for every slice column of the table, or for the leading ones.
            provenance: what made the rows; goes into the commit's metadata.
            force: commit equal rows too, so that the provenance is the new one.

        Returns:
            What was done. Rows equal to those that are there commit nothing.

        Raises:
            ContractError: the rows break the contract; nothing is committed.
            StoreError: the table cannot be written.
        """
        table = contract(name)
        self._check_slice(table, where)
        if isinstance(rows, pl.DataFrame):
            _validate(table, rows, where, None)
            current = self.read(name, where)
            version = self.version(name)
            if version is not None and not force and current.equals(rows):
                return Receipt(name, version, rows.height, changed=False)
            if rows.is_empty() and (version is None or current.is_empty()):
                self._delta(table, create=True)
                return Receipt(name, self.version(name) or 0, 0, changed=False)
            return self._commit(table, rows, where, provenance)
        return self._commit_stream(table, rows, where, provenance)

    def scan(self, name: str, where: Slice | None = None, *, version: int | None = None) -> pl.LazyFrame:
        """A lazy frame over a table's current or earlier snapshot; without one, the empty table.

        Row order across slices is not promised: `read` sorts.
        """
        table = contract(name)
        files = self.files(name, version=version)
        if not files:
            return table.empty().lazy()
        frame = pl.scan_parquet(
            files,
            glob=False,
            schema=table.schema,
            missing_columns="insert",
            extra_columns="ignore",
            storage_options=self.storage_options,
        )
        for column, value in (where or {}).items():
            frame = frame.filter(pl.col(column) == value)
        return frame

    def read(self, name: str, where: Slice | None = None, *, version: int | None = None) -> pl.DataFrame:
        """A table's rows, or one slice of them, in the contract's order."""
        return self.scan(name, where, version=version).collect().sort(contract(name).order)

    def slices(self, name: str, column: str) -> list[str]:
        """The values that a slice column takes."""
        return self.scan(name).select(pl.col(column).unique().sort()).collect()[column].to_list()

    def version(self, name: str) -> int | None:
        """The current snapshot's number, or None before the first write."""
        delta = self._delta(contract(name))
        return None if delta is None else delta.version()

    def files(self, name: str, *, version: int | None = None) -> list[str]:
        """The Parquet files of the current snapshot, or of an earlier one: local paths, or addresses."""
        delta = self._delta(contract(name))
        if delta is None:
            return []
        if version is not None:
            delta.load_as_version(version)
        if self.is_remote:
            return sorted(delta.file_uris())
        folder = Path(self.root).resolve() / "tables" / contract(name).name
        # The table's writers name their files themselves; none of the characters in them needs unescaping.
        return sorted(str(folder / uri.rpartition("/")[2]) for uri in delta.file_uris())

    def history(self, name: str) -> list[dict[str, Any]]:
        """The table's commits, newest first: version, time and provenance."""
        delta = self._delta(contract(name))
        if delta is None:
            return []
        commits = []
        for entry in delta.history():
            made_by = entry.get(PROVENANCE_KEY)
            commits.append(
                {
                    "table": name,
                    "version": entry["version"],
                    "committed_at": entry["timestamp"],
                    "operation": entry["operation"],
                    **(json.loads(made_by) if made_by else {}),
                }
            )
        return commits

    def vacuum(self, name: str, keep_days: float, keep_versions: Sequence[int] = ()) -> list[str]:
        """Drop files that no snapshot needs: neither one of the last ``keep_days`` days, nor one that is named.

        Returns:
            The names of the files dropped.
        """
        delta = self._delta(contract(name))
        if delta is None:
            return []
        return delta.vacuum(
            retention_hours=int(keep_days * 24),
            enforce_retention_duration=False,
            dry_run=False,
            full=True,
            keep_versions=sorted({v for v in keep_versions if v <= delta.version()}) or None,
        )

    def _delta(self, table: Table, *, create: bool = False) -> DeltaTable | None:
        address = self.address(table.name)
        try:
            return DeltaTable(address, storage_options=self.storage_options)
        except TableNotFoundError:
            pass
        except (DeltaError, OSError) as error:
            raise StoreError(
                f"table {table.name} at {address} cannot be read: {_first_line(error)}"
            ) from error
        if not create:
            return None
        schema = table.empty().to_arrow(compat_level=pl.CompatLevel.oldest()).schema
        try:
            DeltaTable.create(
                address,
                schema=pa.schema(schema),
                mode="ignore",
                name=table.name,
                description=table.grain,
                storage_options=self.storage_options,
            )
            return DeltaTable(address, storage_options=self.storage_options)
        except CommitFailedError:
            return DeltaTable(address, storage_options=self.storage_options)
        except (DeltaError, OSError) as error:
            raise StoreError(
                f"table {table.name} cannot be made at {address}: {_first_line(error)}; "
                "make the folder writable or set APPORTION_WAREHOUSE to one that is"
            ) from error

    def _commit(
        self,
        table: Table,
        rows: pl.DataFrame | pa.RecordBatchReader,
        where: Slice,
        provenance: Mapping[str, Any] | None,
    ) -> Receipt:
        """Write; after a conflict with another writer write again, since only our own slice is at stake."""
        address = self.address(table.name)
        count = rows.height if isinstance(rows, pl.DataFrame) else -1
        for attempt in range(COMMIT_ATTEMPTS):
            delta = self._delta(table, create=True)
            if delta is None:  # pragma: no cover - create=True never gives None
                raise StoreError(f"table {table.name} cannot be opened at {address}")
            try:
                write_deltalake(
                    delta,
                    rows.to_arrow(compat_level=pl.CompatLevel.oldest())
                    if isinstance(rows, pl.DataFrame)
                    else rows,
                    mode="overwrite",
                    schema_mode="merge",  # a table from before a column was added gains it
                    predicate=predicate(where),
                    target_file_size=FILE_BYTES,
                    writer_properties=layout(table),
                    commit_properties=CommitProperties(
                        custom_metadata={
                            PROVENANCE_KEY: json.dumps(dict(provenance or {}), sort_keys=True, default=str)
                        }
                    ),
                    storage_options=self.storage_options,
                )
            except CommitFailedError:
                if attempt + 1 == COMMIT_ATTEMPTS or not isinstance(rows, pl.DataFrame):
                    raise
                time.sleep(random.uniform(0.01, 0.05) * (attempt + 1))  # noqa: S311 - jitter
            except (DeltaError, OSError) as error:
                raise StoreError(
                    f"table {table.name} cannot be written at {address}: {_first_line(error)}"
                ) from error
            else:
                return Receipt(table.name, delta.version(), count, changed=True)
        raise StoreError(f"table {table.name}: {COMMIT_ATTEMPTS} commits lost to other writers; try again")

    def _commit_stream(
        self, table: Table, frames: Iterable[pl.DataFrame], where: Slice, provenance: Mapping[str, Any] | None
    ) -> Receipt:
        rows = 0

        def checked() -> Iterator[pa.RecordBatch]:
            nonlocal rows
            after: tuple[object, ...] | None = None
            for frame in frames:
                after = _validate(table, frame, where, after)
                rows += frame.height
                yield from frame.to_arrow(compat_level=pl.CompatLevel.oldest()).to_batches()

        batches = checked()
        first = next(batches, None)
        if first is None:
            return self.write_slice(table.name, table.empty(), where, provenance)
        reader = pa.RecordBatchReader.from_batches(first.schema, chain((first,), batches))
        try:
            receipt = self._commit(table, reader, where, provenance)
        except StoreError as error:
            # The writer wraps what the stream raises; a broken contract should be told as such.
            cause = error.__cause__
            raise (
                ContractError(_first_line(cause)) if cause and "table " + table.name in str(cause) else error
            ) from cause
        return Receipt(table.name, receipt.version, rows, changed=True)

    @staticmethod
    def _check_slice(table: Table, where: Slice) -> None:
        names = tuple(where)
        if not names or names != table.slices[: len(names)]:
            raise ValueError(
                f"table {table.name}: a slice names {', '.join(table.slices)} in that order, not {names}"
            )
        for column, value in where.items():
            if column in ("outcome_set", "filing_batch") and not PARTITION_KEY.fullmatch(value):
                raise ValueError(
                    f"{column} {value!r} is not a name: use 1 to 100 letters, digits, '.', '_', ':' or '-'"
                )


def _validate(
    table: Table, frame: pl.DataFrame, where: Slice, after: tuple[object, ...] | None
) -> tuple[object, ...] | None:
    last = table.validate(frame, after=after)
    for column, value in where.items():
        stray = frame.filter(pl.col(column) != value)
        if not stray.is_empty():
            raise ContractError(
                f"table {table.name}, row {table.describe(stray, 0)}: {column} is {stray[column][0]!r} "
                f"in a write of the slice {column} = {value!r}"
            )
    return last


def _first_line(error: BaseException | None) -> str:
    return str(error).strip().splitlines()[0] if error and str(error).strip() else type(error).__name__
