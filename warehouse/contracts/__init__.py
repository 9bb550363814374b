"""Every table of the warehouse, stated once, a module a stage.

Empty tables, validation, SQL views, column comments and the documentation page all derive from here.
"""

from __future__ import annotations

from warehouse.contracts.corpus import ASKING, CORPUS, RETRIEVAL
from warehouse.contracts.decisions import DECISIONS, FEATURES, LIVE
from warehouse.contracts.outcomes import OUTCOMES
from warehouse.contracts.published import PUBLISHED
from warehouse.contracts.routing import ROUTING
from warehouse.contracts.shared import POLICIES, POOLS, STAGES
from warehouse.contracts.systems import SYSTEMS
from warehouse.schema import Table

__all__ = ["FEATURES", "POLICIES", "POOLS", "STAGES", "TABLES"]

TABLES: dict[str, Table] = {
    table.name: table
    for group in (CORPUS, ASKING, OUTCOMES, DECISIONS, PUBLISHED, LIVE, ROUTING, RETRIEVAL, SYSTEMS)
    for table in group
}
