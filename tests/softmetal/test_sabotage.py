"""A mistake in a shader, or in the host's bindings, turns the kernel tests red."""

import subprocess
from pathlib import Path

import pytest
from harness import REPOSITORY, SHADERS, python, sanitizer

BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"

# File, text, what stands in its place.
MISTAKES = {
    "record without barriers": ("ssm_step_record", BARRIER, ""),
    "record overwrites its tile early": ("ssm_step_record", f"if (begin > p.begin) {BARRIER}", ""),
    "replay overwrites its tile early": ("ssm_replay", f"if (begin > p.begin) {BARRIER}", ""),
    "inverse without a barrier": ("chunk_tri_solve_invert", BARRIER, ""),
    "wrong group of heads": ("ssm_replay", "head / p.sharing", "head % p.groups"),
    "wrong column": ("state", "(i * LANES + p.part) * 4", "(i * LANES + (p.part ^ 1)) * 4"),
    "wrong sign of the rate": ("ssm_step_record", "(-exponential", "(exponential"),
    "wrong sign in the inverse": ("squares", "fma(-l.z,", "fma(l.z,"),
    "wrong place in the inverse": ("squares", "row * WIDE - WIDE + 1", "row * WIDE - WIDE"),
    "half of the squares": ("squares", "PASSING > 1 && above < row", "false"),
    "no diagonal": ("squares", "unit == float(i) ? 1.0f", "unit == float(i) ? 0.0f"),
    "heads of one chunk": ("chunk_tri_solve_invert", "HEADS + own", "HEADS"),
    "contracted": ("state", "fma(decay.y, s.y, w.y)", "(decay.y * s.y + w.y)"),
    "coarse exponential": ("exponential", "0.00836867746f", "0.00833333333f"),
    "NaN as it comes": ("storage", "return x == x ? x : as_type<float>(0x7fc00000u);", "return x;"),
    "rounding down": ("storage", "0x7fffu", "0x7ffeu"),
    "missing function name": ("ssm_replay", "kernel void ssm_replay(", "kernel void replay("),
    "missing kernel": ("ssm_replay_dense", "kernel void", "inline void"),
    "tile of 33 KiB": ("ssm_replay", "tile_u[CHUNK * TILE]", "tile_u[8448]"),
    "double": ("exponential", "12582912.0f;", "12582912.0;"),
    "pointer without a space": ("step", "thread float* v", "float* v"),
}  # fmt: skip
UNBOUND = {"ssm_step_record": 6, "ssm_replay": 3, "chunk_tri_solve_invert": 1}
RACES = {
    "record's barrier orders nothing": ("ssm_step_record", "mem_threadgroup", "mem_none"),
    "replay's barrier orders nothing": ("ssm_replay", "mem_threadgroup", "mem_none"),
    "inverse's barrier orders nothing": ("chunk_tri_solve_invert", "mem_threadgroup", "mem_none"),
    "every group has the same rows": ("ssm_replay", "tile = group.y * TILE", "tile = 0"),
    "rows past the end are stored": ("state", "p.first + r * APART < p.rows", "true"),
}
# Every kernel, with a second tile of rows and a second chunk of steps.
CALLS = """
import deltatape
from deltatape.verification.inputs import Shape, matrices, step_inputs
inputs = step_inputs(Shape(2, 10, 2, 1, 70, 64))
with deltatape.Device("metal") as device, device.stream() as stream:
    _, _, tape = deltatape.ssm_step_record(*inputs.args(), stream=stream)
    deltatape.ssm_replay(inputs.state, tape, 10, stream=stream)
    deltatape.chunk_tri_solve_invert(matrices((1, 100, 2, 64), 0), stream=stream)
"""


def replacement(file: str, old: str, new: str) -> dict[str, str]:
    assert old in (SHADERS / f"{file}.metal").read_text()
    return {"SOFTMETAL_REPLACE": f"{old}=>{new}"}


def kernel_tests(kernel: str, environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    own = Path("tests") / "kernels" / f"test_{kernel}.py"
    tests = own if (REPOSITORY / own).exists() else own.parent
    options = ("-x", "-q", "-p", "no:cacheprovider", "-k", "metal")
    return python("-m", "pytest", *options, str(tests), folder=REPOSITORY, **environment)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_shader_is_seen(mistake: str) -> None:
    ended = kernel_tests(MISTAKES[mistake][0], replacement(*MISTAKES[mistake]))
    assert ended.returncode == 1, ended.stdout
    assert " failed" in ended.stdout.splitlines()[-1]


@pytest.mark.parametrize("kernel", UNBOUND)
def test_a_forgotten_binding_is_seen(kernel: str) -> None:
    ended = kernel_tests(kernel, {"SOFTMETAL_FAULT": f"unbind={UNBOUND[kernel]}"})
    assert ended.returncode == 1
    assert f"[[buffer({UNBOUND[kernel]})]]: nothing is bound" in ended.stdout


def test_calls_without_a_mistake_are_clean() -> None:
    ended = python("-c", CALLS, **sanitizer("tsan"))
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("race", RACES)
def test_a_race_is_seen_by_the_thread_sanitizer(race: str) -> None:
    # Right results, perhaps, on this processor: the sanitizer ends the process with its own code.
    file, old, new = RACES[race]
    ended = python("-c", CALLS, **sanitizer("tsan"), **replacement(file, old, new))
    assert ended.returncode == 66
    assert "WARNING: ThreadSanitizer: data race" in ended.stderr
    assert f"{file}.metal:" in ended.stderr
