"""The mechanism laboratory as two tables: its queries, and its figures over many seeds and settings."""

from collections.abc import Iterator
from typing import Any

import dagster as dg
import numpy as np
import polars as pl

from apportion.routing.laboratory import ARMS, Setting, study
from apportion.routing.laboratory_study import SEEDS, proposition_5, summary, sweep
from assets.checks import specs
from assets.publishing import column_schema, publish
from assets.resources import Warehouse
from warehouse.contracts import TABLES

SETTING = "study"
QUERY_SEEDS = 3
"""Studies whose queries are kept one by one."""
SWEEP_SEEDS = 40
BOUND_SEEDS = 10


class Laboratory(dg.ConfigurableResource):  # type: ignore[type-arg]
    """How much of the laboratory is drawn."""

    seeds: int = SEEDS
    sweep_seeds: int = SWEEP_SEEDS


def query_rows() -> pl.DataFrame:
    """Rows of `laboratory_queries`."""
    frames = []
    for seed in range(QUERY_SEEDS):
        found = study(Setting(), seed)
        frames += [
            found.frame()
            .rename({"question_id": "query_id"})
            .with_columns(
                pl.lit(SETTING).alias("setting"),
                pl.lit(seed).alias("seed"),
                pl.lit(arm).alias("arm"),
                pl.Series("query_class", found.classes),
                pl.Series("calibration", found.calibration),
                pl.Series("quality", found.quality[:, a]),
                pl.Series("correct", found.right[:, a]),
                pl.lit(found.costs[a]).alias("cost"),
            )
            for a, arm in enumerate(ARMS)
        ]
    return pl.concat(frames)


def summary_rows(seeds: int, sweep_seeds: int) -> pl.DataFrame:
    """Rows of `laboratory_summary`: the study, proposition 5 on it, and each parameter moved by itself."""
    base = summary(Setting(), range(seeds))
    bounds = pl.concat([proposition_5(Setting(), seed) for seed in range(min(BOUND_SEEDS, seeds))])
    bound = [
        {
            "figure": f"{name}:{price:g}",
            "median": float(np.median(part[name])),
            "low": float(np.quantile(part[name], 0.1)),
            "high": float(np.quantile(part[name], 0.9)),
            "seeds": part.height,
        }
        for (price,), part in bounds.group_by("price", maintain_order=True)
        for name in ("excess_loss", "bound")
    ]
    alone = pl.concat([base, pl.DataFrame(bound)], how="vertical_relaxed").select(
        pl.lit("none").alias("parameter"), pl.lit(0.0).alias("value"), pl.all()
    )
    return pl.concat([alone, sweep(range(sweep_seeds))], how="vertical_relaxed").with_columns(
        pl.lit(SETTING).alias("setting")
    )


@dg.multi_asset(
    name="laboratory_tables",
    group_name="routing",
    specs=[
        dg.AssetSpec(
            table,
            description=TABLES[table].grain,
            metadata={"dagster/column_schema": column_schema(table)},
            kinds={"deltalake", "numpy"},
        )
        for table in ("laboratory_queries", "laboratory_summary")
    ],
    check_specs=[*specs("laboratory_queries"), *specs("laboratory_summary")],
)
def laboratory(
    context: dg.AssetExecutionContext, warehouse: Warehouse, laboratory_size: Laboratory
) -> Iterator[Any]:
    """The synthetic corpus on which arms change places by construction, and when the gap opens and closes."""
    store = warehouse.store()
    for table, rows in (
        ("laboratory_queries", query_rows()),
        ("laboratory_summary", summary_rows(laboratory_size.seeds, laboratory_size.sweep_seeds)),
    ):
        yield from publish(
            context,
            store,
            table,
            rows,
            {"setting": SETTING},
            inputs={},
            arguments={"seeds": laboratory_size.seeds, "sweep_seeds": laboratory_size.sweep_seeds},
        )
