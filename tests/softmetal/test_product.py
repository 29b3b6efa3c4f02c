"""The host and its shaders: one set of bytes, in any schedule, and clean under sanitizers."""

import json
import re

import pytest
from harness import SCHEDULES, SHADERS, python, sanitizer

LIMIT = 16384


def digests(device: str, schedule: str = "forward") -> dict[str, str]:
    environment = {"DELTATAPE_DEVICE": device, "SOFTMETAL_SCHEDULE": schedule}
    ended = python("-m", "deltatape.verification.digest", **environment)
    assert (ended.returncode, ended.stderr) == (0, "")
    return json.loads(ended.stdout)["digests"]


@pytest.fixture(scope="module")
def metal() -> dict[str, str]:
    return digests("metal")


@pytest.mark.parametrize("schedule", SCHEDULES[1:])
def test_every_schedule_gives_the_same_bytes(metal: dict[str, str], schedule: str) -> None:
    assert digests("metal", schedule) == metal


def test_metal_gives_the_bytes_of_the_cpu(metal: dict[str, str]) -> None:
    cpu = digests("cpu")
    promised = [name for name in cpu if not name.startswith("y,")]
    assert len(promised) == 24
    assert {name: metal[name] for name in promised} == {name: cpu[name] for name in promised}


@pytest.mark.parametrize("schedule", SCHEDULES[:3])
@pytest.mark.parametrize("kind", ["asan", "tsan"])
def test_reference_cases_are_clean(kind: str, schedule: str) -> None:
    environment = {**sanitizer(kind), "SOFTMETAL_SCHEDULE": schedule, "SOFTMETAL_THREADS": "2"}
    ended = python("-m", "deltatape", "verify", "--device", "metal", **environment)
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stdout + ended.stderr
    assert "failed=0" in ended.stdout


def test_threadgroup_memory_is_at_most_half_of_the_device() -> None:
    for bytes_, code in ((LIMIT, 0), (1024, 1)):
        fault = f"threadgroup_memory={bytes_}"
        ended = python("-m", "deltatape", "verify", "--device", "metal", SOFTMETAL_FAULT=fault)
        assert ended.returncode == code, ended.stdout


def test_every_file_holds_the_kernel_of_its_name() -> None:
    kernels = {
        path.stem: re.findall(r"\bkernel\s+void\s+(\w+)\s*\(", path.read_text())
        for path in SHADERS.glob("*.metal")
    }
    shared = {"exponential", "parameters", "squares", "state", "step", "storage"}
    assert {stem for stem, found in kernels.items() if not found} == shared
    assert all(found == [stem] for stem, found in kernels.items() if stem not in shared)
