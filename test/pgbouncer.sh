#!/usr/bin/env bash
# Runs Iris behind Debian's PgBouncer, which the test starts and ends. Arguments are given to go test.
set -euo pipefail
cd "$(dirname "$0")/.."
. test/lib.sh
need /usr/sbin/pgbouncer pgbouncer

go test -count=1 -tags pgbouncer -timeout 10m "$@" ./test/pgbouncer
