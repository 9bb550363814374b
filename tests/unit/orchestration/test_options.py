"""An option that a command takes reaches what the command does; `test_sent_calls` shows it at the model's server."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from commandline import CommandLine

from apportion import defaults
from apportion.llm.models import EMBEDDED
from apportion.prediction import ensemble
from apportion.retrieval.retrievers import RETRIEVERS
from apportion.routes.answering import DEPTHS, check_routes
from apportion.routes.systems import CHUNKED
from assets.resources import Answering
from orchestration.app import CHUNK_RANKINGS, PAGE_RANKINGS, sending
from orchestration.commands.checking import DEPLOYABLE
from warehouse.contracts import POOLS
from warehouse.paths import PROJECT_ROOT

MODULES = sorted((PROJECT_ROOT / "orchestration").glob("cli_*.py"))


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_every_option_of_a_command_is_used(module: Path) -> None:
    commands = [node for node in ast.parse(module.read_text()).body if isinstance(node, ast.FunctionDef)]
    assert commands
    for command in commands:
        read = {node.id for part in command.body for node in ast.walk(part) if isinstance(node, ast.Name)}
        taken = {argument.arg for argument in [*command.args.args, *command.args.kwonlyargs]}
        assert taken <= read, command.name


@pytest.mark.parametrize(
    ("given", "waits"), [((2, None, True), 50.0), ((None, 100, False), 50.0), ((None, None, None), 0.0)]
)
def test_how_calls_are_sent_reaches_every_model_but_the_embedded(
    given: tuple[int | None, int | None, bool | None], waits: float, tmp_path: Path
) -> None:
    rpm, tpm, structured = given
    settings = sending(f"http://127.0.0.1:1/{tmp_path.name}", None, 3, rpm, tpm, structured)
    gateway = Answering(**settings).gateway(tmp_path / "ledger.sqlite")
    try:
        # A model that no option names: a set's earlier answers name it, or `--system` does.
        for model, expected in (("openai/of-the-set", waits), ("embedded/of-none", 0.0)):
            window = gateway.window(model)
            for at in (0.0, 5.0):
                window.note(50, at)
            # Two calls and 100 tokens were sent; the next has to wait until the first is a minute old.
            assert window.delay(50, 10.0) == expected
        assert gateway.slots("openai/of-the-set") == 3
        assert gateway.policy.default_structured is structured
    finally:
        gateway.close()


def test_help_names_every_ranking() -> None:
    assert PAGE_RANKINGS.split(", ") == list(RETRIEVERS)
    assert CHUNK_RANKINGS.split(", ") == list(CHUNKED)


@pytest.mark.parametrize("command", ["run", "retrieve"])
def test_every_command_that_ranks_shows_them(command: str, apportion: CommandLine) -> None:
    shown = " ".join(apportion.ok(command, "--help").split())
    assert PAGE_RANKINGS in shown
    assert (CHUNK_RANKINGS in shown) == (command == "retrieve")


def test_defaults_are_names_that_there_are() -> None:
    assert defaults.RETRIEVER in RETRIEVERS
    assert defaults.POOL in POOLS
    assert defaults.POLICY in DEPLOYABLE
    assert defaults.GAIN_MODEL == ensemble.NAME
    assert set(EMBEDDED) == {defaults.READER, defaults.JUDGE}
    assert check_routes(defaults.ROUTES) == tuple(DEPTHS)
    assert {defaults.CHEAP, defaults.DEEP} <= set(defaults.ROUTES)


def test_an_option_s_default_is_stated_in_one_module() -> None:
    stated = {value for name, value in vars(defaults).items() if name.isupper() and isinstance(value, str)}
    modules = [*MODULES, *(PROJECT_ROOT / "assets").glob("resources.py")]
    for module in (*modules, *(PROJECT_ROOT / "orchestration" / "commands").glob("*.py")):
        written = {
            node.value for node in ast.walk(ast.parse(module.read_text())) if isinstance(node, ast.Constant)
        }
        assert not written & stated, module
