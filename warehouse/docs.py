"""`docs/tables.md`, written from the contracts: `python -m warehouse.docs`."""

from __future__ import annotations

from warehouse.contracts import TABLES
from warehouse.paths import PROJECT_ROOT
from warehouse.schema import Table, sql_type

TARGET = PROJECT_ROOT / "docs" / "tables.md"

HEAD = """# Tables

Every table of the warehouse, written from its contract in `warehouse/contracts` by `make docs`. Rows stand in the
order of the slice, then the key; a write replaces one slice. Money is USD and null where the price is unknown.
Tokens are whole numbers, page numbers are zero-based, qualities lie in [0, 1].
"""


def page() -> str:
    """The page as Markdown."""
    return HEAD + "".join(section(table) for table in TABLES.values())


def section(table: Table) -> str:
    """One table's part of the page."""
    lines = [
        f"\n## {table.name}\n",
        f"{table.grain[0].upper()}{table.grain[1:]}. Key: {', '.join(f'`{name}`' for name in table.key)}. "
        f"Slice: {', '.join(f'`{name}`' for name in table.slices)}.{' ' + table.notes if table.notes else ''}\n",
        "| column | type | what | rule |",
        "|---|---|---|---|",
    ]
    lines += [f"| `{c.name}` | {sql_type(c.dtype)} | {c.doc} | {c.rule} |" for c in table.columns]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(page(), encoding="utf-8")
