"""Kernels run as they would on a GPU, and what a GPU leaves undefined is reported."""

import os

import numpy as np
import pytest
from harness import SCHEDULES, TURN, CompileError, Engine, RunError, run_turn


@pytest.fixture(params=SCHEDULES)
def schedule(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOFTMETAL_SCHEDULE", request.param)


@pytest.mark.usefixtures("schedule")
@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_kernel_runs_in_every_schedule(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, threads: str
) -> None:
    monkeypatch.setenv("SOFTMETAL_THREADS", threads)
    out, expected = run_turn(engine, count=64 * 20)
    np.testing.assert_allclose(out, expected, rtol=1e-6)


def test_schedules_give_the_same_bytes(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def bytes_in(schedule: str) -> bytes:
        monkeypatch.setenv("SOFTMETAL_SCHEDULE", schedule)
        return run_turn(engine)[0].tobytes()

    assert len({bytes_in(each) for each in SCHEDULES}) == 1


def replaced(old: str, new: str) -> str:
    assert old in TURN
    return TURN.replace(old, new, 1)


BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"


@pytest.mark.usefixtures("schedule")
def test_a_missing_barrier_gives_nan(engine: Engine) -> None:
    # Whatever the order, one simdgroup reads what the other has not written yet.
    out, _ = run_turn(engine, replaced(BARRIER, ""))
    assert np.isnan(out).any()


@pytest.mark.usefixtures("schedule")
def test_threadgroup_memory_starts_as_nan(engine: Engine) -> None:
    out, _ = run_turn(
        engine, replaced("tile[index] = in[min(uint(base) + index, p.count - 1)];", "")
    )
    assert np.isnan(out).all()


@pytest.mark.usefixtures("schedule")
@pytest.mark.parametrize(
    ("mistake", "part"),
    [
        (replaced(BARRIER, f"if (index < 40) {BARRIER}"), "divergent"),
        (replaced(BARRIER, f"if (index < 32) {BARRIER} else {BARRIER}"), "divergent"),
        (replaced(BARRIER, f"if (index >= 60) return; {BARRIER}"), "4 threads returned before"),
        (replaced("float sum = mine;", "float sum = lane < 7 ? simd_shuffle(mine, 0) : 0.0f;"),
         "divergent: 7 threads wait at simd_shuffle at line"),
    ],
)  # fmt: skip
def test_divergence_is_an_error(engine: Engine, mistake: str, part: str) -> None:
    with pytest.raises(RunError, match=r"turn: threadgroup \(\d, 0, 0\)") as error:
        run_turn(engine, mistake)
    assert part in str(error.value)


def test_bindings_are_judged(engine: Engine) -> None:
    (kernel,) = engine.compile(TURN)
    values = np.zeros(64, np.float32)
    params = np.array([64, 0], np.uint32)
    for arrays, part in (
        ((values, None, params), "out [[buffer(1)]]: nothing is bound"),
        ((values, values, None), "p [[buffer(2)]]: nothing is bound"),
        ((values, values, params[:1]), "4 bytes are bound, its type has 8"),
    ):
        with pytest.raises(RunError) as error:
            kernel(1, 64, *arrays)
        assert part in str(error.value)
    with pytest.raises(RunError, match="not aligned to 4 bytes"):
        kernel(1, 64, values, values, params, offset=2)


def test_limits_are_known(engine: Engine) -> None:
    (kernel,) = engine.compile(TURN)
    assert (kernel.max_threads, kernel.threadgroup_bytes) == (64, 64 * 4 + 2 * 16)
    (large,) = engine.compile(replaced("float tile[64];", "float tile[64 * 132];"))
    assert large.threadgroup_bytes == 33 * 1024 + 2 * 16


def test_unused_threadgroup_memory_costs_nothing(engine: Engine) -> None:
    unused = "\n#if 0\n  threadgroup float unused[4096];\n#endif\n  threadgroup float tile[64];"
    (kernel,) = engine.compile(replaced("threadgroup float tile[64];", unused))
    assert kernel.threadgroup_bytes == 64 * 4 + 2 * 16


def test_a_compiled_variant_comes_from_the_cache(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: "os.PathLike[str]"
) -> None:
    monkeypatch.setenv("SOFTMETAL_CACHE", str(tmp_path))
    run_turn(engine)
    (kernel,) = (name for name in os.listdir(tmp_path) if name.endswith(".so"))
    changed = os.stat(os.path.join(tmp_path, kernel)).st_mtime_ns
    run_turn(engine)
    assert os.stat(os.path.join(tmp_path, kernel)).st_mtime_ns == changed
    monkeypatch.setenv("SOFTMETAL_CXX", "/nonexistent/clang++")
    with pytest.raises(CompileError, match="cannot start"):
        engine.compile(TURN)


def test_seeded_text_is_compiled_anew(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    good, expected = run_turn(engine)
    monkeypatch.setenv("SOFTMETAL_REPLACE", "63 - index=>index")
    wrong, _ = run_turn(engine)
    np.testing.assert_allclose(good, expected, rtol=1e-6)
    assert not np.allclose(wrong, expected)


def test_arithmetic_is_that_of_the_text(engine: Engine) -> None:
    # Contracted, x * x - y would differ from the product rounded first.
    source = """
kernel void f(device float* a [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {
  a[i + 32] = a[i] * a[i] - 1.0f;
  a[i + 64] = metal::fma(a[i], a[i], -1.0f);
  a[i + 96] = float(half(a[i]));
}"""
    (kernel,) = engine.compile(source)
    x = np.float32(1) + np.arange(32, dtype=np.float32) * np.float32(2**-12 + 2**-23)
    a = np.full(128, np.nan, np.float32)
    a[:32] = x
    kernel(1, 32, a)
    exact = x.astype(np.float64) ** 2 - 1
    np.testing.assert_array_equal(a[32:64], x * x - np.float32(1))
    np.testing.assert_array_equal(a[64:96], exact.astype(np.float32))
    np.testing.assert_array_equal(a[96:], x.astype(np.float16).astype(np.float32))
