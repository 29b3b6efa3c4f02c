"""A Swift program with a Metal device, queue, buffers and encoder of its own uses deltatape."""

import subprocess

from harness import BUILD

PROGRAM = BUILD / "tests" / "softmetal" / "interop" / "softmetal_interop"


def test_a_program_with_metal_of_its_own() -> None:
    ended = subprocess.run([PROGRAM], capture_output=True, text=True, check=False, timeout=120)
    assert ended.stdout.splitlines() == [
        "serial encoder",
        "concurrent encoder",
        "foreign memory",
        "other objects",
        "adopted once",
        "released early",
        "closed",
    ], ended.stderr
