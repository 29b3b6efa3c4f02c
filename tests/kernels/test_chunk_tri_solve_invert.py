"""chunk_tri_solve_invert against its reference, and what becomes of its arguments."""

import numpy as np
import pytest

import deltatape
from deltatape import Device
from deltatape.verification import chunk_tri_solve_invert
from deltatape.verification.calls import invert
from deltatape.verification.case import Case
from deltatape.verification.chunk_tri_solve_invert import Edge, chunks, compare_chunks
from deltatape.verification.comparisons import failures
from deltatape.verification.inputs import DTYPES, dtype_of, matrices


@pytest.mark.parametrize("case", [*chunk_tri_solve_invert.cases()], ids=lambda case: case.name)
def test_equals_the_reference(device: Device, case: Case) -> None:
    assert not failures(case.compare(device))


@pytest.mark.parametrize("chunk", [16, 32, 64])
def test_equals_the_reference_over_many_chunks(device: Device, chunk: int) -> None:
    edge = Edge("many chunks", (3, 5 * chunk + 7, 5, chunk))
    assert not failures(chunk_tri_solve_invert.compare(edge, device))


@pytest.mark.parametrize("result", DTYPES)
@pytest.mark.parametrize("chunk", [16, 32, 64])
def test_equals_the_reference_at_production_size(device: Device, chunk: int, result: str) -> None:
    software = str(device.info["hardware"]).startswith("Software")
    edge = Edge("production", (1, 200 if software else 4200, 8, chunk), result=result)
    assert not failures(chunk_tri_solve_invert.compare(edge, device))


@pytest.mark.parametrize("layer", ["layer1", "layer5"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_equals_the_reference_on_a_trained_layer(
    device: Device, activations: dict[str, np.ndarray], layer: str, dtype: str
) -> None:
    a = activations[f"{layer}.A_strict"].astype(dtype_of(dtype))
    strict = chunks(a.astype(np.float32), ())
    exact = chunks(deltatape.reference.chunk_tri_solve_invert(a), ())
    assert not failures(compare_chunks(strict, exact, chunks(invert(device, a), ())))


@pytest.mark.parametrize("chunk", [16, 32, 64])
@pytest.mark.parametrize("dtype", DTYPES)
def test_in_place_has_the_bytes_of_a_new_array(device: Device, chunk: int, dtype: str) -> None:
    a = matrices((2, 2 * chunk + 5, 3, chunk), 1, dtype)
    new = invert(device, a, dtype=a.dtype)
    same = invert(device, a, out=a)
    assert same is a
    assert same.tobytes() == new.tobytes()


def test_one_16_bit_type_may_replace_the_other_in_place(device: Device) -> None:
    a = matrices((1, 40, 3, 16), 1, "float16")
    new = invert(device, a, dtype=dtype_of("bfloat16"))
    same = invert(device, a, out=a.view(dtype_of("bfloat16")))
    assert same.tobytes() == new.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
def test_results_are_float32_unless_asked(device: Device, dtype: str) -> None:
    a = matrices((1, 20, 2, 16), 1, dtype)
    assert invert(device, a).dtype == np.float32
    assert invert(device, a, dtype=dtype_of(dtype)).dtype == dtype_of(dtype)


def test_sequences_have_the_bytes_they_have_alone(device: Device) -> None:
    bounds = (0, 0, 17, 33, 100)
    a = matrices((1, 100, 3, 32), 1, cu_seqlens=bounds)
    together = invert(device, a, cu_seqlens=bounds)
    for start, stop in ((0, 17), (17, 33), (33, 100)):
        alone = invert(device, np.ascontiguousarray(a[:, start:stop]))
        assert alone.tobytes() == together[:, start:stop].tobytes()


def test_an_input_is_only_read(device: Device) -> None:
    a = matrices((2, 40, 3, 32))
    before = a.tobytes()
    invert(device, a)
    assert a.tobytes() == before
