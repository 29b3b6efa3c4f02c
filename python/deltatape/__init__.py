"""State rollback for language models with recurrent layers.

`ssm_step_record` runs a layer over drafted tokens and records a small tape, `ssm_replay` folds the
accepted entries of it onto the old state, and `chunk_tri_solve_invert` is the matrix inverse of the
chunked gated delta rule. Symbols: B batch, T steps, H heads, G groups, Dh head dimension, Ds state
dimension, BT rows of a chunk.
"""

from importlib.metadata import version

from deltatape import reference
from deltatape._defaults import devices, empty
from deltatape._devices import Device, Stream
from deltatape.conv import conv_window
from deltatape.errors import (
    DeviceError,
    DeviceUnavailable,
    Error,
    InvalidArgument,
    NotOffered,
    OutOfMemory,
    UnsupportedDType,
)
from deltatape.kernels.chunk_tri_solve_invert import chunk_tri_solve_invert
from deltatape.kernels.ssm_replay import ssm_replay
from deltatape.kernels.ssm_step_record import ssm_step_record
from deltatape.session import Session
from deltatape.tapes import DenseTape, FactoredTape, tape_nbytes

__version__ = version("deltatape")

__all__ = [
    "DenseTape",
    "Device",
    "DeviceError",
    "DeviceUnavailable",
    "Error",
    "FactoredTape",
    "InvalidArgument",
    "NotOffered",
    "OutOfMemory",
    "Session",
    "Stream",
    "UnsupportedDType",
    "__version__",
    "chunk_tri_solve_invert",
    "conv_window",
    "devices",
    "empty",
    "reference",
    "ssm_replay",
    "ssm_step_record",
    "tape_nbytes",
]
