"""Each kernel has its piece in every layer, under one stem."""

import re
from pathlib import Path

import pytest

import deltatape
from deltatape import reference, verification

ROOT = Path(__file__).parents[2]
HEADER = ROOT / "native" / "include" / "deltatape.h"
STEMS = re.findall(r"^\} dtape_(\w+)_args;", HEADER.read_text(encoding="utf-8"), re.MULTILINE)

PIECES = [
    "native/abi/{stem}.cpp",
    "native/cpu/{stem}.cpp",
    "native/metal/{camel}.swift",
    "shaders/{stem}.metal",
    "python/deltatape/kernels/{stem}.py",
    "python/deltatape/reference/{stem}.py",
    "python/deltatape/verification/{stem}.py",
    "python/deltatape/benchmark/{stem}.py",
    "tests/kernels/test_{stem}.py",
]
if "add_subdirectory(native/cuda)" in (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"):
    PIECES.append("native/cuda/{stem}.cpp")


def camel(stem: str) -> str:
    """As Swift names types: ssm_replay is SSMReplay."""
    return "".join("SSM" if word == "ssm" else word.capitalize() for word in stem.split("_"))


def test_the_header_declares_kernels() -> None:
    assert "ssm_replay" in STEMS


@pytest.mark.parametrize("stem", STEMS)
def test_no_layer_lacks_a_kernel(stem: str) -> None:
    paths = [piece.format(stem=stem, camel=camel(stem)) for piece in PIECES]
    missing = [path for path in paths if not (ROOT / path).is_file()]
    assert missing == []


@pytest.mark.parametrize("stem", STEMS)
def test_the_tables_of_kernels_name_it(stem: str) -> None:
    host = (ROOT / "native" / "host.h").read_text(encoding="utf-8")
    missing = [
        place
        for place, is_there in {
            "deltatape.h: the function": f"dtape_status dtape_{stem}(" in HEADER.read_text(),
            "host.h: the request": f"dtape_{stem}_request;" in host,
            "host.h: the entry of the table": f"{stem})(" in host,
            "deltatape.__all__": stem in deltatape.__all__,
            "deltatape.reference": stem in reference.__all__,
            "verification.KERNELS": stem in verification.KERNELS,
        }.items()
        if not is_there
    ]
    assert missing == []
