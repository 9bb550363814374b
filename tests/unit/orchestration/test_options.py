"""An option that a command takes reaches what the command does."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from orchestration.app import sending
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


@pytest.mark.parametrize("structured", [True, False, None])
def test_how_calls_are_sent_says_whether_the_server_keeps_to_schemas(structured: bool | None) -> None:
    assert sending("http://127.0.0.1:1/v1", None, 3, 4, 5, structured)["structured"] is structured
