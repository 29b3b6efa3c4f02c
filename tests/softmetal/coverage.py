"""Line coverage of native/metal and shaders, from the profiles of an instrumented run.

coverage.py BUILD: lists, for each file, the lines that ran of those that hold code, and fails
if a line that did not run is missing from coverage_exceptions.txt, or one that ran is in it.
"""

import os
import re
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
# The profiles' format is that of one compiler: its own tools read them.
TOOLS = Path(os.environ["SOFTMETAL_SWIFT"]) / "bin"
REPOSITORY = HERE.parents[1]
# File and line, each with how often it ran.
Counts = dict[tuple[str, int], int]


def exported(binary: Path, profile: Path) -> str:
    """What llvm-cov knows of a binary; nothing if none of it ran."""
    options = ["-format=lcov", f"-instr-profile={profile}", str(binary)]
    command = [TOOLS / "llvm-cov", "export", *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def origins(translated: Path) -> dict[int, tuple[str, int]]:
    """Where each line of a translated shader comes from, by the preprocessor's markers."""
    found: dict[int, tuple[str, int]] = {}
    file, line = "", 0
    for number, text in enumerate(translated.read_text().splitlines(), 1):
        marker = re.match(r'# (\d+) "([^"]*)"', text)
        if marker:
            file, line = marker[2], int(marker[1])
        else:
            found[number] = (file, line)
            line += 1
    return found


def lines_of(report: str) -> Counts:
    """Count by file and line."""
    counts: Counts = defaultdict(int)
    file = ""
    for entry in report.splitlines():
        if entry.startswith("SF:"):
            file = entry[3:]
        elif entry.startswith("DA:"):
            line, count = entry[3:].split(",")[:2]
            counts[file, int(line)] += int(count)
    return counts


def host_lines(build: Path, profile: Path) -> Counts:
    """Count those of native/metal."""
    folder = str(REPOSITORY / "native" / "metal") + "/"
    counts: Counts = defaultdict(int)
    program = build / "tests" / "softmetal" / "interop" / "softmetal_interop"
    for binary in (build / "libdeltatape.so", program):
        for (file, line), count in lines_of(exported(binary, profile)).items():
            if file.startswith(folder):
                counts[file.removeprefix(f"{REPOSITORY}/"), line] += count
    return counts


def shader_lines(build: Path, profile: Path) -> Counts:
    """Count those of shaders, over all variants: a line counts if any of them runs it."""

    def of_variant(binary: Path) -> Counts:
        translated = binary.with_suffix(".cpp")
        known = origins(translated)
        counts: Counts = defaultdict(int)
        for (file, line), count in lines_of(exported(binary, profile)).items():
            origin, number = known.get(line, ("", 0)) if file.endswith(".cpp") else ("", 0)
            if (REPOSITORY / "shaders" / origin).is_file():
                counts[f"shaders/{origin}", number] += count
        return counts

    total: Counts = defaultdict(int)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for counts in pool.map(of_variant, sorted((build / "kernels").glob("*.so"))):
            for place, count in counts.items():
                total[place] += count
    return total


def excepted() -> dict[tuple[str, str], str]:
    """Lines that cannot run here, by file and text, with the reason."""
    found: dict[tuple[str, str], str] = {}
    file = reason = ""
    for line in (HERE / "coverage_exceptions.txt").read_text().splitlines():
        if line.startswith("    "):
            found[file, line.strip()] = reason
        elif line.strip():
            file, reason = line.split(": ", 1)
    return found


def merged(build: Path) -> Path:
    """All profiles of a build in one."""
    listed, profile = build / "profiles.txt", build / "all.profdata"
    listed.write_text("\n".join(map(str, (build / "profiles").glob("*.profraw"))))
    command = [TOOLS / "llvm-profdata", "merge", "-sparse", "-f", str(listed), "-o", str(profile)]
    subprocess.run(command, check=True)
    return profile


def complaints(counts: Counts, texts: dict[str, list[str]]) -> list[str]:
    """Lines that did not run without being an exception, and exceptions that ran."""
    exceptions = excepted()
    missing = {
        (file, line): texts[file][line - 1].strip()
        for (file, line), count in sorted(counts.items())
        if count == 0
    }
    unexplained = [
        f"did not run: {file}:{line}: {text}"
        for (file, line), text in missing.items()
        # A brace says no more than the block that it ends.
        if text not in ("}", "})", "") and (file, text) not in exceptions
    ]
    known = {(file, text) for (file, _), text in missing.items()}
    stale = [
        f"ran, or is gone, though it is an exception: {file}: {text}"
        for file, text in exceptions.keys() - known
    ]
    return unexplained + sorted(stale)


def main(build: Path) -> int:
    profile = merged(build)
    counts = {**host_lines(build, profile), **shader_lines(build, profile)}
    files = sorted({file for file, _ in counts})
    for file in files:
        lines = [count for (name, _), count in counts.items() if name == file]
        print(f"{file:44} {sum(map(bool, lines)):4} of {len(lines):4} lines ran")
    found = complaints(
        counts, {file: (REPOSITORY / file).read_text().splitlines() for file in files}
    )
    print(*found, sep="\n")
    print(f"coverage: {sum(map(bool, counts.values()))} of {len(counts)} lines")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
