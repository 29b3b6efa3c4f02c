"""The functions on tensors are called like those on arrays."""

import inspect

import pytest

import deltatape
import deltatape.torch


@pytest.mark.parametrize("name", ["ssm_step_record", "ssm_replay", "chunk_tri_solve_invert"])
def test_signatures_are_the_same(name: str) -> None:
    tensors, arrays = (
        inspect.signature(getattr(each, name)) for each in (deltatape.torch, deltatape)
    )
    assert [(each.name, each.kind, each.default) for each in tensors.parameters.values()] == [
        (each.name, each.kind, each.default) for each in arrays.parameters.values()
    ]
