#!/bin/sh
# Runs the build with the Gradle that is installed (4.4 or newer). Where there is none, the
# distribution's package is installed, as root or with sudo. Nothing else is downloaded.
set -eu

say() { printf 'gradlew: %s\n' "$*" >&2; }

install_gradle() {
  if command -v apt-get >/dev/null 2>&1; then
    install='apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends gradle'
  elif command -v dnf >/dev/null 2>&1; then
    install='dnf install -y gradle'
  elif command -v pacman >/dev/null 2>&1; then
    install='pacman -Sy --noconfirm gradle'
  elif command -v apk >/dev/null 2>&1; then
    install='apk add gradle'
  else
    return 1
  fi
  if [ "$(id -u)" -eq 0 ]; then
    as_root=
  elif command -v sudo >/dev/null 2>&1; then
    as_root=sudo
  else
    return 1
  fi
  say "no gradle on the PATH, installing it: $as_root $install"
  log=$(mktemp)
  if $as_root sh -c "$install" >"$log" 2>&1; then
    rm -f "$log"
  else
    cat "$log" >&2
    rm -f "$log"
    return 1
  fi
}

if ! command -v gradle >/dev/null 2>&1; then
  if ! install_gradle || ! command -v gradle >/dev/null 2>&1; then
    say "please install Gradle 4.4 or newer (https://gradle.org/install) and run this again"
    exit 1
  fi
fi

cd "$(dirname "$0")"

# Groups of tests leave their total in the first of these files, parts of groups in the other. Printed here, it is the last line.
# Gradle's own lines are for those who ask (--info).
totals='build/check/total build/check/part/total'
rm -f $totals
status=0
DWELL_TOTAL_PRINTED_BY=gradlew gradle --quiet "$@" || status=$?
for total in $totals; do
  if [ -f "$total" ]; then
    cat "$total"
  fi
done
exit "$status"
