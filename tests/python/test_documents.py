"""The listings of the page, the stubs, and the command that measures calls."""

import doctest
import inspect
import re

import lozenge
from lozenge import _lozenge, bench_call


def test_the_listings_of_the_page(root, monkeypatch):
    monkeypatch.chdir(root)
    text = (root / "docs/python.md").read_text()
    listings = re.findall(r"```pycon\n(.*?)```", text, re.DOTALL)
    assert len(listings) >= 6
    test = doctest.DocTestParser().get_doctest("\n".join(listings), {}, "docs/python.md", "docs/python.md", 0)
    said = []
    failed, tried = doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert failed == 0, "".join(said)
    assert tried > 20


def test_stubs_name_what_is_there(root):
    stub = (root / "crates/lozenge-py/python/lozenge/_lozenge.pyi").read_text()
    names = set(re.findall(r"^(?:class|def) (\w+)", stub, re.MULTILINE))
    there = {name for name, value in vars(_lozenge).items() if not name.startswith("__") and callable(value)}
    assert names == there
    for name in ("compile", "_describe"):
        assert hasattr(lozenge.Function, name) and f"def {name}(" in stub


def test_the_benchmark_runs(capsys):
    assert bench_call.main(["--repetitions", "50", "--rounds", "1"]) == 0
    said = capsys.readouterr().out
    assert "lozenge, a new result" in said and "ctypes" in said


def test_load_says_what_it_takes():
    options = inspect.signature(lozenge.load).parameters
    for name in options:
        assert name in inspect.getdoc(lozenge.load), name
