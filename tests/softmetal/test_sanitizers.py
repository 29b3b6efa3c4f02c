"""Mistakes that leave results right, or are seen only by luck, are found by a sanitizer."""

import re

import pytest
from harness import SCHEDULES, TURN, python, sanitizer

PROGRAM = """
import sys
import numpy as np
from harness import Engine, run_turn
out, expected = run_turn(Engine(), '#line 1 "turn.metal"\\n' + sys.argv[1])
print("largest difference", np.abs(out - expected).max())
"""
BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"
STORE = "out[base + index] ="
MISTAKES = {
    "missing barrier": ("tsan", BARRIER, "", "data race"),
    "barrier that orders no memory": (
        "tsan", BARRIER, "threadgroup_barrier(mem_flags::mem_none);", "data race",
    ),
    "simdgroup's barrier for the group's": (
        "tsan", BARRIER, "simdgroup_barrier(mem_flags::mem_threadgroup);", "data race",
    ),
    "two groups on one element": ("tsan", STORE, "out[index] =", "data race"),
    "write past a buffer": ("asan", STORE, "out[base + index + 1] =", "heap-buffer-overflow"),
    "read past a buffer": (
        "asan", "in[min(uint(base) + index, p.count - 1)]", "in[base + index + 1]",
        "heap-buffer-overflow",
    ),
    "index past a threadgroup array": (
        "asan", "tile[63 - index]", "tile[64 - index]", "out of bounds",
    ),
    "pointer past a threadgroup array": (
        "asan", "tile[63 - index]", "*((threadgroup float*)tile + 64 + index)",
        "heap-buffer-overflow",
    ),
}  # fmt: skip

# The first group and the last write the same elements, and a barrier joins the threads of each.
SHARED = """
import sys
import numpy as np
from harness import Engine
source = '''
kernel void f(device float* a [[buffer(0)]], uint3 group [[threadgroup_position_in_grid]],
              uint index [[thread_index_in_threadgroup]]) {
  metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
  a[index + group.x % APART * 512] = float(group.x);
}'''
threads, apart = map(int, sys.argv[1:])
(kernel,) = Engine().compile(source, [f"APART={apart}"])
kernel(apart + 1, threads, np.zeros(512 * apart, np.float32))
"""


@pytest.mark.parametrize("schedule", SCHEDULES[:3])
@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_found(mistake: str, schedule: str) -> None:
    kind, old, new, report = MISTAKES[mistake]
    assert old in TURN
    environment = {**sanitizer(kind), "SOFTMETAL_SCHEDULE": schedule}
    ended = python("-c", PROGRAM, TURN.replace(old, new, 1), **environment)
    assert ended.returncode != 0
    assert report in ended.stdout + ended.stderr
    assert re.search(r"turn\.metal:\d+", ended.stderr), ended.stderr


@pytest.mark.parametrize("schedule", SCHEDULES[:3])
@pytest.mark.parametrize("kind", ["asan", "tsan"])
def test_a_right_kernel_is_clean(kind: str, schedule: str) -> None:
    environment = {**sanitizer(kind), "SOFTMETAL_SCHEDULE": schedule, "SOFTMETAL_THREADS": "2"}
    ended = python("-c", PROGRAM, TURN, **environment)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert float(ended.stdout.split()[-1]) < 1e-2


@pytest.mark.parametrize("schedule", SCHEDULES[:3])
@pytest.mark.parametrize("apart", ["1", "2", "5"])
@pytest.mark.parametrize("threads", ["64", "256", "512"])
def test_groups_larger_than_the_sanitizer_has_clocks_race_too(
    threads: str, apart: str, schedule: str
) -> None:
    environment = {**sanitizer("tsan"), "SOFTMETAL_SCHEDULE": schedule, "SOFTMETAL_THREADS": "1"}
    ended = python("-c", SHARED, threads, apart, **environment)
    assert ended.returncode == 66
    assert "data race" in ended.stderr
