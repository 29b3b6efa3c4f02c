"""Tests of the software Metal, which only tests/softmetal/run collects: they need its build."""

import os
import sys
from pathlib import Path

import pytest

if "SOFTMETAL_BUILD" in os.environ:
    sys.path.insert(0, str(Path(__file__).parent))
    import harness

    @pytest.fixture(scope="session")
    def engine() -> harness.Engine:
        return harness.Engine()

else:
    collect_ignore_glob = ["*"]
