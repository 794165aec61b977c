"""Installations, with a `pip` that fetches nothing."""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
from collections import namedtuple
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pagefence_sglang import __main__ as commands
from pagefence_sglang.errors import UserError
from pagefence_sglang.install import environment, layers, stand_in_libraries, system
from pagefence_sglang.releases import release

if TYPE_CHECKING:
    from collections.abc import Callable

Done = subprocess.CompletedProcess
OLD, NEW, SIBLING = release("0.5.11"), release("0.5.23"), release("0.5.22")


class Pip:
    """Stands in for every process that an installation starts: `pip install`, and the attempt to import."""

    def __init__(self) -> None:
        self.fetched: list[str] = []
        # What is said where a package with this in its name is asked for.
        self.breaks: dict[str, str] = {}
        self.import_fails = ""

    def run(self, command: list[str], **_: Any) -> Done[str]:
        if "--import-only" in command:
            return Done(command, 1 if self.import_fails else 0, "", self.import_fails)
        site = Path(command[command.index("--target") + 1])
        packages = command[command.index("--no-deps") + 1 :]
        site.mkdir()
        for package in packages:
            for name, complaint in self.breaks.items():
                if name in package:
                    return Done(command, 1, "", complaint)
            self.fetched.append(package)
            (site / package.replace("*", "x")).touch()
        return Done(command, 0, "", "")


@pytest.fixture
def pip(monkeypatch: pytest.MonkeyPatch) -> Pip:
    pip = Pip()
    monkeypatch.setattr(subprocess, "run", pip.run)
    monkeypatch.setattr(stand_in_libraries, "build", lambda _: [])
    monkeypatch.setattr(system, "check", lambda _: None)
    return pip


def quiet(_: str) -> None:
    pass


def there(home: Path) -> list[str]:
    return [each.version for each in environment.installed(home)]


def test_a_release_is_there_once_it_is_installed(pip: Pip, tmp_path: Path) -> None:
    said: list[str] = []
    environment.install(NEW, tmp_path, said.append)
    assert there(tmp_path) == ["0.5.23"]
    assert "sglang==0.5.23" in pip.fetched
    folders = environment.find("0.5.23", tmp_path).python_path(tmp_path).split(":")
    assert all(Path(folder).is_dir() for folder in folders)
    assert said[0].startswith("[1/6]")


def test_releases_share_what_they_can(pip: Pip, tmp_path: Path) -> None:
    environment.install(NEW, tmp_path, quiet)
    pip.fetched.clear()
    environment.install(SIBLING, tmp_path, quiet)
    assert pip.fetched == ["sglang==0.5.22"]


def test_removing_a_release_leaves_what_another_needs(pip: Pip, tmp_path: Path) -> None:
    for each in (NEW, SIBLING, OLD):
        environment.install(each, tmp_path, quiet)
    assert environment.remove("0.5.22", tmp_path) == ["sglang-0.5.22"]
    environment.remove("0.5.23", tmp_path)
    assert there(tmp_path) == ["0.5.11"]
    left = sorted(folder.name.rsplit("-", 1)[0] for folder in (tmp_path / "layers").iterdir())
    assert left == ["base", "mooncake", "sglang", "torch", "transformers"]
    assert pip.fetched


def test_what_pip_did_not_finish_is_not_taken_for_whole(pip: Pip, tmp_path: Path) -> None:
    pip.breaks["torch"] = "WARNING: retrying\nERROR: Could not find a version that satisfies torch"
    with pytest.raises(UserError, match=r"ERROR: Could not find a version that satisfies torch; run the same command"):
        environment.install(NEW, tmp_path, quiet)
    assert there(tmp_path) == []
    whole = sorted(folder.name for folder in (tmp_path / "layers").iterdir())
    assert whole == ["sglang-0.5.23", "transformers-5.19.0"]

    pip.breaks.clear()
    pip.fetched.clear()
    environment.install(NEW, tmp_path, quiet)
    # It goes on where it broke.
    assert "sglang==0.5.23" not in pip.fetched
    assert there(tmp_path) == ["0.5.23"]


def test_a_release_that_cannot_be_imported_is_not_installed(pip: Pip, tmp_path: Path) -> None:
    pip.import_fails = "Traceback\nImportError: libtorch.so"
    with pytest.raises(UserError, match=r"ImportError: libtorch.so"):
        environment.install(NEW, tmp_path, quiet)
    assert there(tmp_path) == []


def test_what_a_killed_installation_left_is_swept_away(pip: Pip, tmp_path: Path) -> None:
    left = tmp_path / "layers" / f"{layers.UNFINISHED}abc" / "site"
    left.mkdir(parents=True)
    environment.install(NEW, tmp_path, quiet)
    assert not left.exists()
    assert pip.fetched


@pytest.mark.usefixtures("pip")
def test_two_installations_at_once_are_refused(tmp_path: Path) -> None:
    with (tmp_path / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(UserError, match="another installation is under way"):
            environment.install(NEW, tmp_path, quiet)


def test_pip_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def hang(command: list[str], **options: Any) -> None:
        raise subprocess.TimeoutExpired(command, options["timeout"])

    monkeypatch.setattr(system, "check", lambda _: None)
    monkeypatch.setattr(subprocess, "run", hang)
    with pytest.raises(UserError, match="pip has not ended"):
        environment.install(NEW, tmp_path, quiet)
    assert list((tmp_path / "layers").iterdir()) == []


Usage = namedtuple("Usage", "total used free")  # noqa: PYI024, the standard library's is one


def system_with(monkeypatch: pytest.MonkeyPatch, *, free: int, loads: bool, which: Callable[[str], str | None]) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(free, 0, free))
    monkeypatch.setattr(system, "_loads", lambda _: loads)
    monkeypatch.setattr(shutil, "which", which)


def test_a_system_with_everything_will_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    system_with(monkeypatch, free=6 << 30, loads=True, which=str)
    system.check(tmp_path / "engines")
    assert (tmp_path / "engines").is_dir()


def test_what_the_system_lacks_is_told_with_the_line_that_brings_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    system_with(monkeypatch, free=6 << 30, loads=False, which=lambda _: None)
    with pytest.raises(UserError) as caught:
        system.check(tmp_path)
    line = "apt-get install -y --no-install-recommends libibverbs1 ibverbs-providers librdmacm1 gcc binutils"
    assert line in str(caught.value)


def test_a_disk_that_is_too_small_is_told_before_anything_is_fetched(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    system_with(monkeypatch, free=1 << 30, loads=True, which=str)
    with pytest.raises(UserError, match=r"1\.0 GiB are free, and an installation needs 5"):
        system.check(tmp_path)


def test_the_commands_answer_in_json_and_refuse_in_one_line(
    pip: Pip, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = str(tmp_path)
    assert commands.main(["install", "sglang==0.5.23", "--home", home]) == 0
    assert commands.main(["list", "--home", home]) == 0
    out, _ = capsys.readouterr()
    rows = {row["version"]: row for row in json.loads(out)}
    assert "/layers/sglang-0.5.23:" in rows["0.5.23"]["python_path"]
    assert rows["0.5.11"]["python_path"] is None
    assert commands.main(["remove", "0.5.11", "--home", home]) == commands.BAD_USAGE
    _, err = capsys.readouterr()
    assert err == "error: sglang==0.5.11 is not installed: pagefence engine install sglang==0.5.11\n"
    assert pip.fetched
