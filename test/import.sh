#!/usr/bin/env bash
# Imports databases of Iris and Oncall with the real command from a MariaDB that this script starts and stops. The arguments are those of
# go test, such as -run TestIrisMovesRowByRow.
set -euo pipefail
cd "$(dirname "$0")/.."
. test/lib.sh
need mariadbd mariadb-server
tmp=$(mktemp -d)
server=
cleanup() {
  if [ -n "$server" ]; then
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  rm -rf "$tmp"
}
trap cleanup EXIT

need python3 python3
port=$(free_port)
mariadb-install-db --no-defaults --datadir="$tmp/data" --auth-root-authentication-method=normal --skip-test-db --user="$(id -un)" >"$tmp/install.log" 2>&1 ||
  { cat "$tmp/install.log" >&2; exit 1; }
mariadbd --no-defaults --datadir="$tmp/data" --socket="$tmp/socket" --port="$port" --bind-address=127.0.0.1 --user="$(id -un)" \
  --pid-file="$tmp/pid" --character-set-server=latin1 --innodb-flush-log-at-trx-commit=0 --log-error="$tmp/error.log" >/dev/null 2>&1 &
server=$!
wait_for 60 "MariaDB" mariadb-admin --no-defaults --socket="$tmp/socket" --user=root ping || { cat "$tmp/error.log" >&2; exit 1; }

IRIS_TEST_MYSQL=127.0.0.1:$port go test -count=1 -tags mariadb -timeout 10m "$@" ./test/import
