#!/usr/bin/env bash
# Faults of PostgreSQL under load: a standby is promoted, the disk is full, another client takes every connection. The stories
# (test/e2e/faults_test.go) check that nothing is lost, nothing is sent early and duplicates are labelled. Needs root, to mount a
# small disk. Arguments are given to go test, such as -run TestFullDisk.
set -euo pipefail
cd "$(dirname "$0")/.."
. test/lib.sh
need /usr/lib/postgresql/15/bin/pg_basebackup postgresql-15
[ "$(id -u)" = 0 ] || { echo "test/faults.sh: run it as root: it mounts a small disk that fills up" >&2; exit 1; }
tmp=$(mktemp -d /var/tmp/iris-faults-XXXXXX)
chmod 755 "$tmp"
mkdir -m 755 "$tmp/servers" "$tmp/disk"
cleanup() {
  umount "$tmp/disk" 2>/dev/null || true
  rm -rf "$tmp"
}
trap cleanup EXIT
mount -t tmpfs -o size=240m,mode=755 iris-faults "$tmp/disk" || { echo "test/faults.sh: this machine does not let root mount a tmpfs" >&2; exit 1; }
IRIS_FAULTS_POSTGRES=/usr/lib/postgresql/15/bin IRIS_FAULTS_DIR=$tmp/servers IRIS_FAULTS_DISK=$tmp/disk \
  go test -count=1 -tags faults -timeout 5m -run 'TestStandby|TestFullDisk|TestConnections' "$@" ./test/e2e
