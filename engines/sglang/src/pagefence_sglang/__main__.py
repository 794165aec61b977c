"""The commands that `pagefence engine` and `pagefence drive` run."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from pagefence_sglang.errors import UserError
from pagefence_sglang.install import environment
from pagefence_sglang.releases import release, releases

# How `pagefence` tells bad usage from everything else.
BAD_USAGE = 2


def main(words: list[str]) -> int:
    """Run the command in `words`; return the exit code."""
    arguments = _parser().parse_args(words)
    try:
        arguments.run(arguments)
    except UserError as error:
        sys.stderr.write(f"error: {error}\n")
        return BAD_USAGE
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pagefence_sglang", description=__doc__)
    commands = parser.add_subparsers(required=True)
    for name, run in (("install", _install), ("remove", _remove)):
        command = commands.add_parser(name)
        command.add_argument("release")
        command.add_argument("--home", type=Path, required=True)
        command.set_defaults(run=run)
    command = commands.add_parser("list")
    command.add_argument("--home", type=Path, required=True)
    command.set_defaults(run=_list)
    command = commands.add_parser("node")
    command.add_argument("--import-only", action="store_true")
    command.add_argument("--options", default="{}")
    command.set_defaults(run=_node)
    return parser


def _install(arguments: argparse.Namespace) -> None:
    environment.install(release(arguments.release), arguments.home, _say)


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def _remove(arguments: argparse.Namespace) -> None:
    for layer in environment.remove(release(arguments.release).version, arguments.home):
        _say(f"removed {layer}")


def _list(arguments: argparse.Namespace) -> None:
    """Print every release as JSON; an installed one with its PYTHONPATH."""
    there = {each.version: each for each in environment.installed(arguments.home)}
    rows = []
    for each in releases():
        path = there[each.version].python_path(arguments.home) if each.version in there else None
        rows.append({"version": each.version, "torch": each.torch, "python_path": path})
    sys.stdout.write(json.dumps(rows) + "\n")


def _node(arguments: argparse.Namespace) -> None:
    # Takes seconds and prints: only here.
    from pagefence_sglang.node import main as node  # noqa: PLC0415

    node.run(json.loads(arguments.options), import_only=arguments.import_only)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
