# SPDX-FileCopyrightText: The Assay developers
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by quickstart, test and new_benchmark: where the checkout is, and one way to configure and build a folder of it.
# shellcheck shell=bash
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
me=$(basename "$0")

# configure FOLDER CMAKE-ARGUMENTS...: quiet when it works. A folder that was made for another place (the checkout was
# moved or copied) is configured afresh; one that exists keeps its generator.
# ccache is used where it is.
configure() {
  local folder=$1 extra=() cache=$1/CMakeCache.txt log=$1/configure.log
  shift
  mkdir -p "$folder"
  if [[ ! -e $cache ]]; then
    command -v ninja >/dev/null && extra=(-G Ninja)
    command -v ccache >/dev/null && extra+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  elif [[ $(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$cache") != "$root" ]]; then
    extra=(--fresh)
  fi
  if ! cmake -S "$root" -B "$folder" "${extra[@]}" "$@" >"$log" 2>&1; then
    cat "$log" >&2
    printf '%s: configuring failed, see above\n' "$me" >&2
    return 3
  fi
  sed -n '/Assay features:/,/^-- Configuring done/{/^-- Configuring done/d;s/^-- //p}' "$log"
}

# build FOLDER TARGETS...: all targets when none is named. One compiler for each core and each 1.5 GiB of free memory.
build() {
  local folder=$1 jobs memory_kib
  shift
  memory_kib=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo)
  jobs=$(nproc)
  ((jobs <= memory_kib / 1572864)) || jobs=$((memory_kib / 1572864))
  ((jobs >= 1)) || jobs=1
  if ! cmake --build "$folder" -j "$jobs" ${1:+--target "$@"}; then
    printf '%s: the build failed, see above\n' "$me" >&2
    return 3
  fi
}
