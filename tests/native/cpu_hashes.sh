#!/usr/bin/env bash
# The cpu device's bytes on every path of this machine and, under qemu, on arm64.
# Usage: tests/native/cpu_hashes.sh [BUILD_FOLDER]
# Needs cmake, ninja and Debian's g++-aarch64-linux-gnu and qemu-user. Prints one line a path and
# fails on the first that differs.
set -euo pipefail

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${1:-$(mktemp -d)}

# build NAME COMPILER_PREFIX: the library, and the program that prints hashes.
build() {
  cmake -S "$source" -B "$build/$1" -G Ninja "${@:3}" \
    -DCMAKE_C_COMPILER="$2gcc" -DCMAKE_CXX_COMPILER="$2g++" >"$build/$1.log"
  cmake --build "$build/$1" --target deltatape >>"$build/$1.log"
  "$2gcc" -std=c11 -Wall -Wextra -Werror -I"$source/native/include" \
    "$source/tests/native/cpu_hashes.c" -o "$build/$1/cpu_hashes" \
    -L"$build/$1" -ldeltatape -Wl,-rpath,"$build/$1"
}

# compare NAME COMMAND...: the first path's output is what the others must equal.
compare() {
  "${@:2}" >"$build/hashes.$1"
  [[ -e $build/expected ]] || cp "$build/hashes.$1" "$build/expected"
  diff "$build/expected" "$build/hashes.$1" | head -5
  echo "$1: $(wc -l <"$build/hashes.$1") lines, $(sha256sum <"$build/hashes.$1" | cut -c 1-16)"
}

mkdir -p "$build"
rm -f "$build/expected"
build native ""
for path in x86-64-v4 x86-64-v3 x86-64 arm64; do
  if DELTATAPE_CPU_PATH=$path "$build/native/cpu_hashes" >/dev/null 2>"$build/refusal"; then
    compare "$path" env DELTATAPE_CPU_PATH="$path" "$build/native/cpu_hashes"
  else
    echo "$path: not here ($(tail -n 1 "$build/refusal"))"
  fi
done
build arm64 aarch64-linux-gnu- -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64
compare "arm64 under qemu" qemu-aarch64 -L /usr/aarch64-linux-gnu "$build/arm64/cpu_hashes"
