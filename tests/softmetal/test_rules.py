"""Sources that Apple's compiler, or another device's, refuses are refused here."""

import pytest
from harness import TURN, CompileError, Engine


def changed(old: str, new: str) -> str:
    assert old in TURN
    return TURN.replace(old, new, 1)


SUM = "float sum = mine;"
REFUSED = {
    "literal without f": (changed("float4(sum, 0.0f,", "float4(sum, 0.0,"), "suffix f: 0.0"),
    "literal with exponent": (changed(SUM, "float sum = mine * 1e0;"), "suffix f: 1e0"),
    "double": (changed(SUM, "double sum = mine;"), ""),
    "array of run-time length": (changed(SUM, "float a[index]; float sum = mine;"), ""),
    "if constexpr": (changed(SUM, "float sum = mine; if constexpr (true) sum = 0.0f;"), "c++17"),
    "structured binding": (changed(SUM, "float sum = mine; auto [a, b] = p;"), "c++17"),
    "pointer without a space": (
        changed("const float mine", "float* m = &tile[0]; const float mine"),
        "address space",
    ),
    "reference without a space": (
        changed("[[max_total", "inline float f(float& x) { return x; }\n[[max_total"),
        "address space",
    ),
    "parameter without attribute": (changed(" [[thread_index_in_simdgroup]]", ""), "no attribute"),
    "position of another type": (changed("uint lane [[", "ushort lane [["), "of type uint"),
    "position that CUDA lacks": (
        changed("[[thread_index_in_simdgroup]]", "[[thread_position_in_grid]]"),
        "thread_position_in_grid",
    ),
    "buffers out of order": (changed("[[buffer(2)]]", "[[buffer(3)]]"), "out of order at p"),
    "buffer twice": (changed("[[buffer(1)]]", "[[buffer(0)]]"), "out of order at out"),
    "template kernel": (
        changed("[[max_total", "template <typename T> [[max_total"),
        "a kernel that is a template",
    ),
    "host_name": (changed("kernel void", '[[host_name("x")]] kernel void'), "host_name"),
    "initialised threadgroup memory": (
        changed("float tile[64];", "float tile[64] = {};"),
        "initialiser",
    ),
    "two threadgroup variables": (changed("float tile[64];", "float tile[64], b[64];"), ""),
    "write to constant": (changed(SUM, "p.count = 1; float sum = mine;"), "const"),
    "mixed min": (changed("min(uint(base) + index,", "min(base + index,"), "min"),
    "shuffle of ulong": (changed(SUM, "simd_shuffle(base, 0); float sum = mine;"), "simd_shuffle"),
    "include of a file": (changed("using", '#include "other.h"\nusing'), "Metal's own headers"),
    "library function": (changed(SUM, "float sum = sin(mine);"), "sin"),
    "no return": (changed("[[max_total", "inline float f() {}\n[[max_total"), "return"),
    "unclosed": (changed("kernel void turn(", "kernel void turn(("), "unclosed"),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_mistakes_are_refused(engine: Engine, mistake: str) -> None:
    source, part = REFUSED[mistake]
    with pytest.raises(CompileError) as refusal:
        engine.compile(source)
    assert part in str(refusal.value)


SPACES = {
    "device from threadgroup": "device float* q = tile;",
    "thread from threadgroup": "thread float* q = tile;",
    "threadgroup from device": "threadgroup float* q = out;",
    "thread from device": "thread const float* q = in;",
    "device from thread": "float x = 0.0f; device float* q = &x;",
    "device from constant": "device const uint* q = &p.count;",
    "write through device const": "in[0] = 0.0f;",
}


@pytest.mark.parametrize("mistake", SPACES)
def test_address_spaces_are_kept_apart(engine: Engine, mistake: str) -> None:
    with pytest.raises(CompileError, match="error: "):
        engine.compile(changed(SUM, SPACES[mistake] + " " + SUM))


def test_mistakes_are_reported_at_their_line(engine: Engine) -> None:
    source = '#line 1 "turn.metal"\n' + changed(SUM, "float sum = sine(mine);")
    line = source[: source.index("sine")].count("\n")
    with pytest.raises(CompileError, match=f"turn.metal:{line}:"):
        engine.compile(source)


def test_macros_choose_the_parameters(engine: Engine) -> None:
    source = changed(
        "uint3 group", "#if EXTRA\n device float* more [[buffer(3)]],\n#endif\n uint3 group"
    )
    for extra in (0, 1):
        (kernel,) = engine.compile(source, [f"EXTRA={extra}"])
        assert kernel.name == "turn"
