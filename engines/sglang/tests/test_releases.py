from importlib import resources

import pytest

from pagefence_sglang.errors import UserError
from pagefence_sglang.releases import release, releases


def test_a_release_goes_by_its_number_or_its_full_name() -> None:
    assert release("0.5.22") == release("sglang==0.5.22")
    assert release("0.5.22").torch == "2.14.1"


def test_an_unknown_release_is_refused_with_the_list_and_the_nearest() -> None:
    with pytest.raises(UserError) as caught:
        release("sglang==0.5.32")
    said = str(caught.value)
    assert "did you mean sglang==0.5.2" in said
    for known in ("0.5.11", "0.5.18", "0.5.19", "0.5.20", "0.5.21", "0.5.22", "0.5.23"):
        assert f"sglang=={known}" in said


def test_no_release_is_there_twice() -> None:
    versions = [each.version for each in releases()]
    assert sorted(set(versions)) == sorted(versions)


def test_everything_that_is_installed_beside_a_release_is_pinned() -> None:
    base = resources.files("pagefence_sglang").joinpath("base.txt").read_text().split()
    assert base
    assert [word for word in base if "==" not in word] == []
