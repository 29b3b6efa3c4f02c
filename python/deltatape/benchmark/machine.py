"""Where the numbers were made."""

from __future__ import annotations

import importlib
import os
import platform
from typing import Any

import numpy as np

import deltatape
from deltatape.benchmark.peers import installed
from deltatape.benchmark.places import Place

THREADS_BY = ("DELTATAPE_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def describe(place: Place, with_peers: bool) -> dict[str, Any]:
    """Return the machine, the device, versions, and what decides numbers of threads."""
    libraries = place.libraries if with_peers else ()
    peers = {name: version for name in libraries if (version := installed(name))}
    threads = {name: os.environ[name] for name in THREADS_BY if name in os.environ}
    if "torch" in peers:
        threads["torch"] = str(importlib.import_module("torch").get_num_threads())
    return {
        "device": place.device.info,
        "system": platform.platform(),
        "processors": os.cpu_count(),
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
        "versions": {"deltatape": deltatape.__version__, "numpy": np.__version__, **peers},
        "threads": threads,
    }
