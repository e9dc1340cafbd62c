#!/usr/bin/env bash
# Generates internal/kit/postgres/db from migrations/ and internal/kit/postgres/query/ with the pinned sqlc.
# Generates into a temporary folder first, so that a broken query never leaves half-generated code behind.
# With --check it changes nothing and fails when the committed code is not what would be generated.
set -euo pipefail
cd "$(dirname "$0")/.."
out=internal/kit/postgres/db
lock=${TMPDIR:-/tmp}/iris-generate.lock
exec 9>"$lock"
flock 9
bin=${SQLC:-}
if [ -z "$bin" ]; then
  bin=$(go env GOCACHE)/iris-sqlc
  want=$(sha256sum tools/go.mod | cut -d' ' -f1)
  if [ ! -x "$bin" ] || [ "$(cat "$bin.of" 2>/dev/null)" != "$want" ]; then
    (cd tools && CGO_ENABLED=0 go build -o "$bin" github.com/sqlc-dev/sqlc/cmd/sqlc)
    printf '%s' "$want" >"$bin.of"
  fi
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp/internal/kit/postgres"
cp sqlc.yaml "$tmp/"
cp -r migrations "$tmp/"
cp -r internal/kit/postgres/query "$tmp/internal/kit/postgres/"
(cd "$tmp" && "$bin" generate)
printf '// Package db has the statements of internal/kit/postgres/query. sqlc generates it. Only internal/kit/postgres and the packages named pg import it.\npackage db\n' >"$tmp/$out/doc.go"
if [ "${1:-}" = --check ]; then
  diff -ru "$tmp/$out" "$out" || { echo "generated code is stale: run make generate" >&2; exit 1; }
  exit 0
fi
mkdir -p "$out"
rm -f "$out"/*.go
cp "$tmp/$out"/*.go "$out"/
