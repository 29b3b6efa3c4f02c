"""Bytes do not depend on the instruction set nor on the number of threads."""

import json
import os
import re
import subprocess
import sys

import pytest

ODD = "3,9,6,3,7,41"
LARGE = "4,6,32,2,64,128"


def run(shape: str, **environment: str) -> subprocess.CompletedProcess:
    """Digests on the cpu device, of a fresh process under an environment."""
    command = [sys.executable, "-m", "deltatape.verification.digest", shape]
    variables = os.environ | {"DELTATAPE_DEVICE": "cpu"} | environment
    return subprocess.run(command, env=variables, capture_output=True, text=True)


def digests(shape: str, **environment: str) -> dict:
    done = run(shape, **environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def paths_of_this_processor() -> list[str]:
    """The names that the refusal of an unknown one lists."""
    refusal = run(ODD, DELTATAPE_CPU_PATH="none").stderr
    named = re.search(r"expected a path of this processor \((.+)\), got \"none\"", refusal)
    assert named, refusal
    return named[1].split(", ")


@pytest.fixture(scope="module")
def as_usual() -> dict[str, dict]:
    return {shape: digests(shape) for shape in (ODD, LARGE)}


@pytest.mark.parametrize("shape", [ODD, LARGE])
@pytest.mark.parametrize("path", paths_of_this_processor())
def test_every_instruction_set_has_the_same_bytes(as_usual: dict, shape: str, path: str) -> None:
    forced = digests(shape, DELTATAPE_CPU_PATH=path)
    assert forced["device"]["path"] == path
    assert forced["digests"] == as_usual[shape]["digests"]


@pytest.mark.parametrize("shape", [ODD, LARGE])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_every_number_of_threads_has_the_same_bytes(
    as_usual: dict, shape: str, threads: int
) -> None:
    forced = digests(shape, DELTATAPE_NUM_THREADS=str(threads))
    assert forced["device"]["threads"] == threads
    assert forced["digests"] == as_usual[shape]["digests"]
