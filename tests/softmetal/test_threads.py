"""Eight threads call the host at once, which is built for the thread sanitizer here."""

import os

from harness import HERE, python, sanitizer


def test_eight_threads_are_right_and_do_not_race() -> None:
    environment = sanitizer("tsan")
    # The Swift runtime's once-only initialisation of globals is not known to the sanitizer.
    environment["TSAN_OPTIONS"] += f":suppressions={HERE / 'tsan_suppressions.txt'}"
    environment["DELTATAPE_LIBRARY"] = os.environ["SOFTMETAL_TSAN_LIBRARY"]
    ended = python("threads.py", **environment)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == "48 of 48 rounds right\n"
