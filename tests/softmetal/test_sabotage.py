"""A mistake in a shader, or in the host's bindings, turns the kernel tests red."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from harness import REPOSITORY, SHADERS, sanitizer

BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"

# File, text, what stands in its place.
MISTAKES = {
    "record without barriers": ("ssm_step_record", BARRIER, ""),
    "record overwrites its tile early": ("ssm_step_record", f"if (begin > p.begin) {BARRIER}", ""),
    "replay overwrites its tile early": ("ssm_replay", f"if (begin > p.begin) {BARRIER}", ""),
    "inverse without a barrier": ("chunk_tri_solve_invert", BARRIER, ""),
    "wrong group of heads": ("ssm_replay", "head / (p.heads / p.groups)", "head % p.groups"),
    "wrong column": ("state", "(i * LANES + p.part) * 4", "(i * LANES + (p.part ^ 1)) * 4"),
    "rows past the end": ("state", "p.first + r * APART < p.rows", "true"),
    "wrong sign of the rate": ("ssm_step_record", "rate = -exponential", "rate = exponential"),
    "wrong sign in the inverse": ("chunk_tri_solve_invert", "fma(-l.z,", "fma(l.z,"),
    "contracted": ("state", "fma(decay.y, s.y, w.y)", "(decay.y * s.y + w.y)"),
    "coarse exponential": ("exponential", "0.00836867746f", "0.00833333333f"),
    "NaN as it comes": ("storage", "return x == x ? x : as_type<float>(0x7fc00000u);", "return x;"),
    "rounding down": ("storage", "0x7fffu", "0x7ffeu"),
    "missing function name": ("ssm_replay", "kernel void ssm_replay(", "kernel void replay("),
    "missing kernel": ("ssm_replay_dense", "kernel void", "inline void"),
    "tile of 33 KiB": ("ssm_replay", "tile_u[CHUNK * TILE]", "tile_u[8448]"),
    "double": ("exponential", "12582912.0f;", "12582912.0;"),
    "pointer without a space": ("ssm_step_record", "thread float* v", "float* v"),
}  # fmt: skip
UNBOUND = {"ssm_step_record": 6, "ssm_replay": 3, "chunk_tri_solve_invert": 1}
RACES = {
    "record's barrier orders nothing": ("ssm_step_record", "mem_threadgroup", "mem_none"),
    "replay's barrier orders nothing": ("ssm_replay", "mem_threadgroup", "mem_none"),
    "inverse's barrier orders nothing": ("chunk_tri_solve_invert", "mem_threadgroup", "mem_none"),
    "every group stores the same rows": ("ssm_replay", "tile = group.y * TILE", "tile = 0"),
}


def replacement(file: str, old: str, new: str) -> dict[str, str]:
    assert old in (SHADERS / f"{file}.metal").read_text()
    return {"SOFTMETAL_REPLACE": f"{old}=>{new}"}


def kernel_tests(environment: dict[str, str], *words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-k", "metal"]
    return subprocess.run(
        [*command, *words],
        cwd=REPOSITORY,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_shader_is_seen(mistake: str) -> None:
    ended = kernel_tests(replacement(*MISTAKES[mistake]), "tests/kernels")
    assert ended.returncode == 1, ended.stdout
    assert " failed" in ended.stdout.splitlines()[-1]


@pytest.mark.parametrize("kernel", UNBOUND)
def test_a_forgotten_binding_is_seen(kernel: str) -> None:
    path = Path("tests") / "kernels" / f"test_{kernel}.py"
    ended = kernel_tests({"SOFTMETAL_FAULT": f"unbind={UNBOUND[kernel]}"}, str(path))
    assert ended.returncode == 1
    assert f"[[buffer({UNBOUND[kernel]})]]: nothing is bound" in ended.stdout


@pytest.mark.parametrize("race", RACES)
def test_a_race_is_seen_by_the_thread_sanitizer(race: str) -> None:
    # Right results, perhaps, on this processor: the sanitizer ends the process with its own code.
    environment = {**sanitizer("tsan"), **replacement(*RACES[race])}
    ended = subprocess.run(
        [sys.executable, "-m", "deltatape", "verify", "--device", "metal"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ended.returncode == 66
    assert "WARNING: ThreadSanitizer: data race" in ended.stderr
    assert f"{RACES[race][0]}.metal:" in ended.stderr
