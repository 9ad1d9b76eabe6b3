"""What the tests share: a cache of their own, and the folder of the repository."""

import pathlib

import numpy
import pytest

import lozenge

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    """Compiled objects of the tests go to a folder of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def root():
    return ROOT


@pytest.fixture
def rng():
    return numpy.random.default_rng(7)


@pytest.fixture(scope="session")
def blas():
    return lozenge.load(ROOT / "library/blas.loz", exact=True)
