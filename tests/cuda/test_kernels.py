"""Every variant that the reference cases ask for compiles, without arithmetic on doubles."""

from collections.abc import Callable

import pytest

CASES = """
from deltatape import Device, verification
device = Device("cuda")
for case in verification.cases("cuda", {kernels!r}):
    try:
        verification.run(device, case)
    except (AssertionError, ValueError):  # nothing was computed
        pass
assert device.counters["pipelines_compiled"] >= {fewest}, device.counters
"""

KERNELS = [
    (("ssm_step_record",), 30),
    (("ssm_replay",), 30),
    (("chunk_tri_solve_invert",), 12),
]


@pytest.mark.parametrize("architecture", [80, 90])
@pytest.mark.parametrize(("kernels", "fewest"), KERNELS, ids=[names[0] for names, _ in KERNELS])
def test_every_variant_compiles(
    launches: Callable[..., list[str]], kernels: tuple[str], fewest: int, architecture: int
) -> None:
    program = CASES.format(kernels=list(kernels), fewest=fewest)
    lines = launches(program, DRIVER_ARCHITECTURE=str(architecture), DELTATAPE_CACHE="off")
    assert lines
    assert all("launch " in line for line in lines)


@pytest.mark.parametrize(("kernels", "fewest"), KERNELS, ids=[names[0] for names, _ in KERNELS])
def test_gpus_newer_than_the_compiler_get_code_without_doubles(
    launches: Callable[..., list[str]], kernels: tuple[str], fewest: int
) -> None:
    program = CASES.format(kernels=list(kernels), fewest=fewest)
    lines = launches(program, DRIVER_ARCHITECTURE="999", DELTATAPE_CACHE="off")
    assert lines.count("ptx") >= fewest
    assert "ptx with doubles" not in lines
