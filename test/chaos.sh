#!/usr/bin/env bash
# Injects random faults into the real programs and compares the result with the promises: test/chaos.sh [SECONDS [SEED...]]. A seed
# repeats its faults; the default is a random one. CI runs a short one, with go test ./test/e2e.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-120}
shift || true
[ $# -gt 0 ] || set -- "$RANDOM$RANDOM"
failed=0
for seed in "$@"; do
  echo "=== seed $seed, $seconds s"
  CHAOS_SEED=$seed CHAOS_SECONDS=$seconds go test -count=1 -timeout "$((seconds + 600))s" -run '^TestChaos$' -v ./test/e2e || failed=1
done
exit $failed
