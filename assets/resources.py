"""What assets are given: the warehouse, and the settings of the work at hand."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg

from apportion.defaults import (
    CHEAP,
    CONCURRENCY,
    DEEP,
    GAIN_MODEL,
    JUDGE,
    POLICY,
    POOL,
    RETRIEVER,
    RISK,
    ROUTES,
)
from apportion.evaluation.sweep import BUDGETS
from warehouse.paths import local_root, warehouse_root
from warehouse.store import Store

if TYPE_CHECKING:
    from apportion.llm.accounts import Budget
    from apportion.llm.gateway import Gateway
    from apportion.llm.prices import PriceTable


class Warehouse(dg.ConfigurableResource):  # type: ignore[type-arg]
    """The tables and the local files beside them."""

    root: str | None = None

    def store(self) -> Store:
        """The Delta tables."""
        return Store(self.root or warehouse_root())

    def local_folder(self) -> Path:
        """Where local files lie, also where the tables lie in an object store."""
        folder = Path(self.root) if self.root and "://" not in self.root else local_root()
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def ledger_path(self) -> Path:
        """The call ledger."""
        return self.local_folder() / "ledger.sqlite"

    def models_folder(self, sets: Sequence[str], cheap: str, deep: str, gain_model: str) -> Path:
        """Where the models fitted on some sets lie; their card names the sets."""
        return (
            self.local_folder()
            / "models"
            / f"{cheap}--{deep}"
            / gain_model
            / hashlib.sha256("\n".join(sorted(sets)).encode()).hexdigest()[:16]
        )

    def lock_path(self, name: str) -> Path:
        """The file of a lock between the processes of this machine; the kernel frees it when its holder dies."""
        return self.local_folder() / f".{name}.lock"


class Source(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Where a batch of filings and its questions come from.

    Without a path, a batch is read again from where it came before; ``sample`` needs none.
    """

    path: str | None = None
    kind: str | None = None


class Answering(dg.ConfigurableResource):  # type: ignore[type-arg]
    """How questions are answered and graded.

    ``model`` and ``judge`` are LiteLLM names; without one, a set keeps to the model it was answered by, and a new set
    is answered by the embedded reader. ``router`` names filings and rewrites questions for the document-routed systems,
    ``describer`` describes chunks for `cbr_context`; without one the generator does, and an embedded generator leaves
    both to rules. ``embedder`` is ``latent``, ``local`` or a LiteLLM embedding model, ``reranker`` ``fused``, ``local``
    or a LiteLLM rerank model; ``model_folder`` holds local models. ``companies`` names a folder of the user's own
    tables of companies, ``document_schema`` a TOML file that routes documents of another kind, ``default_year`` the
    year of questions that name none, ``window`` the tokens that the model takes where LiteLLM doesn't know.

    ``structured`` says whether the models' server keeps to JSON schemas, where LiteLLM doesn't know.

    Spending on a model that has a price, or an unknown one, needs a cap (``max_tokens``, ``max_usd``) or consent
    (``consent``). ``prices`` names a JSON file of the user's own prices.
    """

    model: str | None = None
    judge: str = JUDGE
    second_judge: str | None = None
    routes: list[str] = list(ROUTES)  # noqa: RUF012 - pydantic copies it for each resource
    retriever: str = RETRIEVER
    pool: str = POOL
    router: str | None = None
    describer: str | None = None
    embedder: str = "latent"
    reranker: str = "fused"
    model_folder: str | None = None
    verifier: str = "one"
    companies: str | None = None
    document_schema: str | None = None
    default_year: int | None = None
    window: int | None = None
    refresh: bool = False
    max_tokens: int | None = None
    max_usd: float | None = None
    consent: bool = False
    api_base: str | None = None
    structured: bool | None = None
    prices: str | None = None
    concurrency: int = CONCURRENCY
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None

    def gateway(self, ledger_path: Path, budget: Budget | None = None) -> Gateway:
        """A gateway with these settings; limits hold for each model called, whoever named it."""
        from apportion.llm.gateway import Gateway
        from apportion.llm.limits import ModelLimits

        return Gateway(
            ledger_path,
            max_concurrency=self.concurrency,
            api_base=self.api_base,
            prices=self.price_table(),
            default_limits=ModelLimits(None, self.requests_per_minute, self.tokens_per_minute),
            default_structured=self.structured,
            budget=budget,
        )

    def price_table(self) -> PriceTable:
        """LiteLLM's prices, or the user's own where a file gives them."""
        from apportion.llm.prices import PriceTable

        return PriceTable.from_file(self.prices) if self.prices else PriceTable()


class Comparison(dg.ConfigurableResource):  # type: ignore[type-arg]
    """What is compared: a pair of routes, one judge's grades, the budgets, and the benefit model behind the policies.

    ``ridge_boosting`` is the escalation paper's ensemble. The others also learn from every graded answer of the set
    and its sister sets; they take minutes where the ensemble takes seconds. ``text_encoder`` reads texts for them in
    the place of TF-IDF: ``local``, or a folder with a model's files.
    """

    cheap: str = CHEAP
    deep: str = DEEP
    judge: str | None = None
    gain_model: str = GAIN_MODEL
    text_encoder: str | None = None
    budgets: list[float] = list(BUDGETS)  # noqa: RUF012 - pydantic copies it for each resource


class Escalation(dg.ConfigurableResource):  # type: ignore[type-arg]
    """What an escalation may spend and how it chooses.

    One of ``budget`` (a fraction of what escalating everybody is predicted to cost), ``tokens`` and ``usd`` is given.
    ``hard_cap`` holds the cap whatever the answers' lengths; otherwise it is exceeded with at most probability
    ``risk``. ``learn_from`` names the judged sets that the models are fitted on; without it a set that is judged
    itself is decided by its held-out predictions, another by all sets that are judged.
    """

    budget: float | None = None
    tokens: int | None = None
    usd: float | None = None
    policy: str = POLICY
    hard_cap: bool = False
    risk: float = RISK
    learn_from: list[str] = []  # noqa: RUF012 - pydantic copies it for each resource


def defaults() -> dict[str, Any]:
    """The resources with their defaults."""
    return {
        "warehouse": Warehouse(),
        "source": Source(),
        "answering": Answering(),
        "comparison": Comparison(),
        "escalation": Escalation(),
    }
