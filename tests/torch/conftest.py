"""Tests of deltatape.torch, which are collected where DELTATAPE_TEST_TORCH asks for them."""

import os
from collections.abc import Callable

import pytest

if "DELTATAPE_TEST_TORCH" not in os.environ:
    collect_ignore_glob = ["*"]
else:
    import torch

    import deltatape

    GPU = torch.cuda.is_available() and "cuda" in deltatape.devices()

    @pytest.fixture(params=["cpu", "cuda"] if GPU else ["cpu"])
    def place(request: pytest.FixtureRequest) -> str:
        """Where the tensors of a test lie."""
        return str(request.param)

    @pytest.fixture
    def normal(place: str) -> Callable[..., torch.Tensor]:
        """Random tensors of a shape, the same ones everywhere."""
        generator = torch.Generator().manual_seed(0)

        def normal(*shape: int, dtype: str = "float32") -> torch.Tensor:
            made = torch.randn(shape, generator=generator)
            return made.to(place, getattr(torch, dtype))

        return normal
