"""The binding and the compiled library mean the same structs, codes and functions."""

import re
from pathlib import Path

import pytest

from deltatape import _native, errors
from deltatape._native import ffi, lib

HEADER = Path(__file__).parents[2] / "native" / "include" / "deltatape.h"
STRUCTS = re.findall(r"typedef struct (\w+) \{", HEADER.read_text())
FIELDS = [(name, field) for name in STRUCTS for field, _ in ffi.typeof(f"struct {name}").fields]


@pytest.mark.parametrize("struct", STRUCTS)
def test_a_struct_has_the_size_that_the_library_was_compiled_with(struct: str) -> None:
    assert lib.dtape_layout(struct.encode()) == ffi.sizeof(f"struct {struct}")


@pytest.mark.parametrize(("struct", "field"), FIELDS)
def test_a_field_lies_where_the_library_was_compiled_to_find_it(struct: str, field: str) -> None:
    assert lib.dtape_layout(f"{struct}.{field}".encode()) == ffi.offsetof(f"struct {struct}", field)


@pytest.mark.parametrize("name", ["", "dtape_inputs", "dtape_input.", "dtape_input.size", "dtype"])
def test_the_layout_of_what_does_not_exist_is_refused(name: str) -> None:
    assert lib.dtape_layout(name.encode()) == -1


def test_every_function_of_the_header_is_in_the_library() -> None:
    declared = re.findall(r"DTAPE_API [^;]*?\b(dtape_\w+)\(", HEADER.read_text())
    assert len(declared) == len(set(declared)) > 15
    assert all(callable(getattr(lib, name)) for name in declared)
    assert set(declared) <= set(dir(lib))


def test_the_library_has_the_version_that_the_binding_expects() -> None:
    assert lib.dtape_abi_version() == _native.ABI_VERSION


STATUSES = ffi.typeof("enum dtape_status_code").elements


def test_every_status_but_ok_has_an_exception() -> None:
    assert sorted(errors.CLASSES) == sorted(set(STATUSES) - {lib.DTAPE_OK})


@pytest.mark.parametrize("code", errors.CLASSES)
def test_an_exception_is_named_as_its_status_and_carries_the_code(code: int) -> None:
    error = errors.from_status(code, "[operation] sentence")
    status = STATUSES[code].removeprefix("DTAPE_").replace("_", "").lower()
    shared = {"devicelost": "deviceerror", "forkedchild": "deviceunavailable"}
    assert type(error).__name__.lower() == shared.get(status, status)
    assert error.code == code
    assert str(error) == "[operation] sentence"
    spoken = ffi.string(lib.dtape_status_name(code)).decode()
    assert spoken.replace(" ", "") == status


@pytest.mark.parametrize(
    ("name", "builtin"),
    [
        ("InvalidArgument", ValueError),
        ("UnsupportedDType", TypeError),
        ("DeviceUnavailable", RuntimeError),
        ("NotOffered", NotImplementedError),
        ("OutOfMemory", MemoryError),
        ("DeviceError", RuntimeError),
    ],
)
def test_an_exception_is_also_a_builtin_one(name: str, builtin: type[Exception]) -> None:
    kind = getattr(errors, name)
    assert issubclass(kind, errors.Error)
    assert issubclass(kind, builtin)
    assert errors.CLASSES[kind.code] is kind
