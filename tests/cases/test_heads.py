"""Heads, groups and odd sizes as models got them wrong. Names begin with the case's id."""

from dataclasses import replace

import numpy as np
import pytest

from deltatape import Device, FactoredTape
from deltatape.verification import ssm_replay, ssm_step_record, tolerances
from deltatape.verification.calls import record, replay
from deltatape.verification.comparisons import elementwise, wide
from deltatape.verification.inputs import Shape, step_inputs


@pytest.mark.parametrize(("heads", "groups"), [(4, 2), (16, 4), (6, 3), (5, 1), (5, 5)])
def test_g1_groups_are_blocks_of_heads(device: Device, heads: int, groups: int) -> None:
    inputs = step_inputs(Shape(1, 1, heads, groups, 1, 1))
    inputs.b[...] = np.arange(1, groups + 1).reshape(1, 1, groups, 1)
    inputs.x[...] = 1
    inputs.dt[...] = 1
    inputs.c[...] = 1
    inputs.d[...] = 0
    expected = np.repeat(np.arange(1, groups + 1), heads // groups)
    y, state, tape = record(device, replace(inputs, state=None))
    assert state.ravel().tolist() == expected.tolist()
    assert y.ravel().tolist() == expected.tolist()
    assert replay(device, np.zeros_like(state), tape, 1).ravel().tolist() == expected.tolist()


def test_g1_c_is_grouped_as_b_is(device: Device) -> None:
    inputs = step_inputs(Shape(1, 1, 4, 2, 1, 1))
    inputs.c[...] = np.array([1, 2]).reshape(1, 1, 2, 1)
    inputs.dt[...] = 0
    inputs.state[...] = 1
    inputs.d[...] = 0
    y, _, _ = record(device, inputs)
    assert y.ravel().tolist() == [1, 1, 2, 2]


def test_g2_the_rate_belongs_to_the_head_and_not_to_its_group(device: Device) -> None:
    inputs = step_inputs(Shape(1, 3, 4, 2, 4, 8))
    inputs.a_log[...] = [-3, -1, 0, 1]
    _, _, tape = record(device, inputs)
    argument = -np.exp(wide(inputs.a_log)) * wide(inputs.dt)
    assert elementwise("decay", tape.decay, np.exp(argument), tolerances.decay(argument)).holds
    assert len(np.unique(tape.decay)) == 12


def test_g3_groups_that_do_not_divide_the_heads_are_refused(device: Device) -> None:
    inputs = step_inputs(Shape(1, 2, 6, 4, 4, 8))
    with pytest.raises(ValueError, match=r"^\[ssm_step_record\] .*expected .*, got "):
        record(device, inputs)
    decay = np.ones((1, 2, 6), np.float32)
    with pytest.raises(ValueError, match=r"^\[ssm_replay\] .*expected .*, got "):
        replay(device, inputs.state, FactoredTape(decay, decay, inputs.x, inputs.b), 1)


@pytest.mark.parametrize("state_dim", [96, 80, 33, 1])
@pytest.mark.parametrize("head_dim", [48, 1, 257])
def test_g4_sizes_need_not_be_powers_of_two(device: Device, state_dim: int, head_dim: int) -> None:
    shape = Shape(1, 9, 2, 1, head_dim, state_dim)
    for tape in ("factored", "dense"):
        found = ssm_step_record.compare(ssm_step_record.Edge("sizes", shape, tape=tape), device)
        found += ssm_replay.compare(ssm_replay.Edge("sizes", shape, tape=tape, k=(7,)), device)
        for each in found:
            assert each.holds, each


def test_g6_a_rate_for_each_column_is_refused(device: Device) -> None:
    inputs = step_inputs(Shape())
    rates = np.zeros((4, 64), np.float32)
    with pytest.raises(ValueError, match=r"a_log: expected shape \[H\] = \(4,\), got \(4, 64\)"):
        record(device, replace(inputs, a_log=rates))
