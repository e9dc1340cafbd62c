#!/usr/bin/env bash
# Checks the units with systemd-analyze.
set -euo pipefail
cd "$(dirname "$0")/.."
. test/lib.sh
need systemd-analyze systemd
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
for unit in deploy/systemd/*.service; do
  # The programs are not installed on this machine: /bin/true replaces them, at another path.
  program=$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$unit")
  install -D -m 755 /bin/true "$root$program"
  sed "s|^ExecStart=$program|ExecStart=$root$program|" "$unit" >"$root/$(basename "$unit")"
  systemd-analyze verify "$root/$(basename "$unit")"
  systemd-analyze security --offline=true --threshold=40 "$root/$(basename "$unit")" | tail -1
done
