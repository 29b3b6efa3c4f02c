"""The Swift module refuses what Apple's compiler and Metal's debug layer refuse."""

import re
import subprocess
from pathlib import Path

import pytest
from harness import BUILD, HERE

MODULE = BUILD / "tests" / "softmetal"
BREACHES = MODULE / "softmetal_breaches"


def typecheck(source: Path) -> dict[int, str]:
    """The errors of a Swift file, by line."""
    command = ["swiftc", "-swift-version", "6", "-parse-as-library", "-typecheck"]
    places = ["-I", str(MODULE), "-I", str(HERE / "engine")]
    ended = subprocess.run(
        [*command, "-diagnostic-style=llvm", *places, str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    errors = re.findall(r"^(.+?):(\d+):\d+: error: (.*)$", ended.stderr, re.MULTILINE)
    assert {name for name, _, _ in errors} <= {str(source)}, ended.stderr
    found: dict[int, str] = {}
    for _, line, text in errors:
        found[int(line)] = found.get(int(line), "") + text
    return found


def test_mistakes_do_not_compile() -> None:
    source = HERE / "module" / "mistakes.swift"
    expected = {
        number: line.split("// error: ")[1]
        for number, line in enumerate(source.read_text().splitlines(), 1)
        if "  // error: " in line
    }
    found = typecheck(source)
    assert len(expected) > 60
    assert found.keys() == expected.keys()
    assert [n for n, text in expected.items() if text not in found[n]] == []


def breaches() -> list[str]:
    listed = subprocess.run([str(BREACHES)], capture_output=True, text=True, check=True)
    return listed.stdout.splitlines()


def test_right_use_is_not_refused() -> None:
    assert len(breaches()) == 23


@pytest.mark.parametrize("name", breaches())
def test_breaches_abort(name: str) -> None:
    ended = subprocess.run([str(BREACHES), name], capture_output=True, text=True, check=False)
    assert ended.returncode < 0
    assert "softmetal: " in ended.stderr
    assert "not noticed" not in ended.stdout
