"""Compiled objects on disk."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import lozenge

PROGRAM = "def plus [n] (xs ys: [n]i64): [n]i64 = zip xs ys |> mapPar (\\(x, y) -> x + y)\n"

SCRIPT = f"""
import sys, numpy, lozenge
if sys.argv[1] == "without":
    import os
    os.environ["CC"] = "/bin/false"
m = lozenge.load({PROGRAM!r})
print(m.plus(numpy.arange(3), numpy.arange(3)).tolist())
"""


def run(folder, *arguments, **more):
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder), **more}
    command = [sys.executable, "-c", SCRIPT, *(arguments or ("with",))]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def entries(folder):
    return list((folder / "lozenge").glob("*.so"))


@pytest.fixture
def filled(tmp_path):
    assert run(tmp_path).stdout == "[0, 2, 4]\n"
    return tmp_path


def counting_compiler(folder):
    """A compiler that notes each compilation, so that a test sees whether there was one."""
    compiler = folder / "gcc"
    compiler.write_text(f'#!/bin/sh\ncase "$*" in *-shared*) echo x >>{folder}/count;; esac\nexec gcc "$@"\n')
    compiler.chmod(0o755)
    return compiler


def compilations(folder):
    count = folder / "count"
    return len(count.read_text().split()) if count.exists() else 0


def test_the_folder_is_private(filled):
    assert (filled / "lozenge").stat().st_mode & 0o777 == 0o700
    [entry] = entries(filled)
    assert entry.stat().st_mode & 0o777 == 0o600
    assert not list((filled / "lozenge").glob("*.partial"))


def test_what_is_there_is_not_compiled_again(tmp_path):
    compiler = counting_compiler(tmp_path)
    for _ in range(3):
        assert run(tmp_path, CC=str(compiler)).stdout == "[0, 2, 4]\n"
        assert compilations(tmp_path) == 1


@pytest.mark.parametrize("damage", ["cut", "changed", "emptied", "extended"])
def test_what_is_damaged_is_made_anew(tmp_path, damage):
    compiler = counting_compiler(tmp_path)
    run(tmp_path, CC=str(compiler))
    [entry] = entries(tmp_path)
    whole = entry.read_bytes()
    middle = len(whole) // 2
    changed = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    entry.write_bytes(
        {"cut": whole[:middle], "changed": changed, "emptied": b"", "extended": whole + b"x"}[damage]
    )
    assert run(tmp_path, CC=str(compiler)).stdout == "[0, 2, 4]\n"
    assert compilations(tmp_path) == 2
    [entry] = entries(tmp_path)
    assert len(entry.read_bytes()) == len(whole)


def test_a_folder_that_others_write_to_is_not_trusted(tmp_path):
    compiler = counting_compiler(tmp_path)
    run(tmp_path, CC=str(compiler))
    (tmp_path / "lozenge").chmod(0o777)
    assert run(tmp_path, CC=str(compiler)).stdout == "[0, 2, 4]\n"
    assert compilations(tmp_path) == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a folder to somebody else")
def test_what_belongs_to_others_is_not_trusted(tmp_path):
    compiler = counting_compiler(tmp_path)
    run(tmp_path, CC=str(compiler))
    [entry] = entries(tmp_path)
    os.chown(entry, 12345, 12345)
    assert run(tmp_path, CC=str(compiler)).stdout == "[0, 2, 4]\n"
    assert compilations(tmp_path) == 2
    os.chown(tmp_path / "lozenge", 12345, 12345)
    run(tmp_path, CC=str(compiler))
    assert compilations(tmp_path) == 3


def test_a_link_in_place_of_the_folder_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "lozenge").symlink_to(tmp_path / "elsewhere")
    assert run(tmp_path).stdout == "[0, 2, 4]\n"
    assert not list((tmp_path / "elsewhere").iterdir())


def test_no_folder_is_no_error():
    assert run("/proc/nothing").stdout == "[0, 2, 4]\n"


def test_no_compiler_is_told():
    said = run("/proc/nothing", "without").stderr
    assert "error[X0302]" in said or "error[X0301]" in said


def test_other_flags_are_another_object(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    xs = np.arange(3)
    for exact in (False, True):
        lozenge.load(PROGRAM, exact=exact).plus(xs, xs)
    lozenge.load(PROGRAM + "-- a comment\n").plus(xs, xs)
    # Objects that are loaded already are not looked for on disk.
    assert len(entries(tmp_path)) <= 2
    assert lozenge.cache_folder() == pathlib.Path(tmp_path / "lozenge")
