"""Signatures, docstrings and exports say the same thing."""

import doctest
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable
from typing import Any

import pytest

import deltatape
from deltatape import reference

SIGNATURES = {
    "ssm_step_record": "(x, a_log, b, c, d, dt, state, mask=None, *, tape='factored', "
    "advance=True, slots=None, has_initial=None, out=None, stream=None)",
    "ssm_replay": "(state, tape, k, *, mask=None, slots=None, out=None, stream=None)",
    "chunk_tri_solve_invert": "(a, *, cu_seqlens=None, dtype=None, out=None, stream=None)",
    "conv_window": "(window, inputs, k)",
    "empty": "(shape, dtype=<class 'numpy.float32'>)",
    "devices": "()",
}
PUBLIC = [name for name in deltatape.__all__ if not name.startswith("__")]
CALLABLES = {name: getattr(deltatape, name) for name in PUBLIC} | {
    f"{kind.__name__}.{name}": member
    for kind in map(vars(deltatape).get, PUBLIC)
    if inspect.isclass(kind) and not issubclass(kind, Exception)
    for name, member in inspect.getmembers(kind, inspect.isroutine)
    if not name.startswith("_")
}
FUNCTIONS = {name: value for name, value in CALLABLES.items() if inspect.isfunction(value)}
MODULES = [
    module.name
    for module in pkgutil.walk_packages(deltatape.__path__, "deltatape.")
    if re.match(r"deltatape\.(kernels|reference|_?[a-z]+$)", module.name)
    and not module.name.endswith(("__main__", ".torch"))  # tests/torch has torch
]


def plain(function: Callable[..., Any]) -> str:
    """The signature without annotations."""
    signature = inspect.signature(function)
    bare = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
    ]
    return str(inspect.Signature(bare))


def documented(function: Callable[..., Any]) -> list[str]:
    """The names under Parameters,"""
    section = re.search(r"Parameters\n-+\n(.*?)(\n\n\w[\w ]+\n-+\n|$)", doc_of(function), re.S)
    if section is None:
        return []
    headings = re.findall(r"^(\w[\w, ]*?)(?: : .*)?$", section[1], re.M)
    return [name.strip() for heading in headings for name in heading.split(",")]


def doc_of(value: object) -> str:
    return inspect.getdoc(value) or ""


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures(name: str) -> None:
    assert plain(getattr(deltatape, name)) == SIGNATURES[name]


@pytest.mark.parametrize("name", reference.__all__)
def test_a_reference_has_the_names_and_order_of_its_function(name: str) -> None:
    of_reference = list(inspect.signature(getattr(reference, name)).parameters)
    of_function = list(inspect.signature(getattr(deltatape, name)).parameters)
    assert of_reference == [name for name in of_function if name in of_reference]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_is_documented(name: str) -> None:
    parameters = [each for each in inspect.signature(FUNCTIONS[name]).parameters if each != "self"]
    assert sorted(documented(FUNCTIONS[name])) == sorted(parameters)


def test_a_session_records_as_the_function_does() -> None:
    of_session = inspect.signature(deltatape.Session.record).parameters
    of_function = inspect.signature(deltatape.ssm_step_record).parameters
    shared = [name for name in of_session if name in of_function]
    assert shared == [name for name in of_function if name in of_session]
    for name in shared:
        assert of_session[name].default == of_function[name].default
        assert of_session[name].kind == of_function[name].kind


@pytest.mark.parametrize("name", CALLABLES)
def test_everything_public_is_described(name: str) -> None:
    assert re.match(r"[A-Z].+\.", doc_of(CALLABLES[name]))


@pytest.mark.parametrize(
    "name", ["ssm_step_record", "ssm_replay", "chunk_tri_solve_invert", "conv_window"]
)
def test_a_function_that_takes_arrays_says_what_it_raises_and_has_an_example(name: str) -> None:
    function = FUNCTIONS[name]
    assert re.search(r"Raises\n-+\nInvalidArgument\n.+UnsupportedDType\n", doc_of(function), re.S)
    (examples,) = doctest.DocTestFinder().find(function, name)
    assert examples.examples


@pytest.mark.parametrize("module", ["deltatape", *MODULES])
def test_examples_run(module: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(module))
    assert failed == 0


def test_importing_star_gives_what_is_public() -> None:
    assert sorted(set(deltatape.__all__)) == sorted(deltatape.__all__)
    scope: dict[str, Any] = {}
    exec("from deltatape import *", scope)
    assert set(PUBLIC) <= set(scope)
