#!/bin/sh
# Installs the programs that build and run bench/mpi: Open MPI, and libclang, which generates its Rust bindings.
# Uses apt-get, as root or with sudo. Does nothing if all of them are installed.
set -eu

say() { printf 'openmpi: %s\n' "$*" >&2; }

missing=
need() { missing="$missing $1"; }

command -v mpirun >/dev/null 2>&1 || need openmpi-bin
command -v mpicc >/dev/null 2>&1 || need libopenmpi-dev
# The name of the package has a version in it, so look for the file that the generator loads.
ls "${LIBCLANG_PATH:-/nowhere}"/libclang.so* /usr/lib/*/libclang.so* /usr/lib*/libclang.so* /usr/lib/llvm*/lib/libclang.so* \
  2>/dev/null | grep -q . || need libclang-dev

if [ -z "$missing" ]; then
  exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
  say "no apt-get here; please install what Debian calls$missing and run this again"
  exit 1
fi
say "installing$missing"
install="apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if [ "$(id -u)" -eq 0 ]; then
  as_root=
elif command -v sudo >/dev/null 2>&1; then
  as_root=sudo
else
  say "neither root nor sudo; please install$missing and run this again"
  exit 1
fi
$as_root sh -c "$install" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
