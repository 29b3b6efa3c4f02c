"""Compiled kernels are kept in a folder of the user's own, and nothing else there is trusted."""

import os
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Run = Callable[..., CompletedProcess[str]]

PROGRAM = """
import deltatape
from deltatape import Device
from layers import state, tape
with Device("cuda") as device, device.stream() as stream:
    deltatape.ssm_replay(state(device), tape(device), 3, stream=stream)
    stream.wait()
    print(device.counters["pipelines_compiled"])
"""


def compiled(run: Run, **variables: str | Path | None) -> int:
    done = run(PROGRAM, **variables)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def kept(folder: Path) -> Path:
    (file,) = folder.iterdir()
    return file


def test_another_process_compiles_nothing(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    assert compiled(run, DELTATAPE_CACHE=folder) == 1
    assert folder.stat().st_mode & 0o777 == 0o700
    assert kept(folder).stat().st_mode & 0o777 == 0o600
    assert compiled(run, DELTATAPE_CACHE=folder) == 0


def test_the_folder_is_among_the_users_caches(run: Run, tmp_path: Path) -> None:
    assert compiled(run, DELTATAPE_CACHE=None, XDG_CACHE_HOME=tmp_path) == 1
    assert kept(tmp_path / "deltatape")
    home = {"DELTATAPE_CACHE": None, "XDG_CACHE_HOME": None, "HOME": tmp_path}
    assert compiled(run, **home) == 1
    assert kept(tmp_path / ".cache" / "deltatape")


def test_off_keeps_nothing(run: Run, tmp_path: Path) -> None:
    none = {"DELTATAPE_CACHE": "off", "XDG_CACHE_HOME": tmp_path, "HOME": tmp_path}
    assert compiled(run, **none) == compiled(run, **none) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("at", [0, 9, 60, -1])
def test_damage_is_noticed_and_repaired(run: Run, tmp_path: Path, at: int) -> None:
    assert compiled(run, DELTATAPE_CACHE=tmp_path / "cache") == 1
    file = kept(tmp_path / "cache")
    content = bytearray(file.read_bytes())
    content[at] ^= 1
    file.write_bytes(content)
    assert compiled(run, DELTATAPE_CACHE=tmp_path / "cache") == 1
    assert compiled(run, DELTATAPE_CACHE=tmp_path / "cache") == 0


def test_half_a_file_is_noticed(run: Run, tmp_path: Path) -> None:
    assert compiled(run, DELTATAPE_CACHE=tmp_path / "cache") == 1
    file = kept(tmp_path / "cache")
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    assert compiled(run, DELTATAPE_CACHE=tmp_path / "cache") == 1


def test_what_others_may_write_is_not_trusted(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    assert compiled(run, DELTATAPE_CACHE=folder) == 1
    kept(folder).chmod(0o666)
    assert compiled(run, DELTATAPE_CACHE=folder) == 1
    assert compiled(run, DELTATAPE_CACHE=folder) == 0
    folder.chmod(0o777)
    assert compiled(run, DELTATAPE_CACHE=folder) == 1


def test_links_are_not_followed(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    assert compiled(run, DELTATAPE_CACHE=folder) == 1
    (tmp_path / "link").symlink_to(folder)
    assert compiled(run, DELTATAPE_CACHE=tmp_path / "link") == 1
    file = kept(folder)
    file.rename(tmp_path / "elsewhere")
    os.symlink(tmp_path / "elsewhere", file)
    assert compiled(run, DELTATAPE_CACHE=folder) == 1


def test_threads_compile_a_kernel_once(run: Run, tmp_path: Path) -> None:
    program = """
import threading
import deltatape
from deltatape import Device
from layers import state, tape
device = Device("cuda")
def replay():
    with device.stream() as stream:
        deltatape.ssm_replay(state(device), tape(device), 3, stream=stream)
threads = [threading.Thread(target=replay) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(device.counters["pipelines_compiled"], device.counters["dispatches"])
"""
    assert run(program, DELTATAPE_CACHE=tmp_path / "cache").stdout == "1 8\n"
