#!/usr/bin/env bash
# Drives the pages of `iris dev` in a real Chromium: log-in, incidents, cluster, mailbox, overrides, swaps and edits by dragging, a
# session that ends during an edit, rosters, schedules, and a phone. Screenshots go to the folder in the first argument, or to a
# temporary one. Further arguments are for go test: test/browser.sh /tmp/shots -run 'TestLayout/(all|looks)/.*/silences'
set -euo pipefail
cd "$(dirname "$0")/.."
. test/lib.sh
need chromium chromium
need npm npm
shots=${1:-$(mktemp -d)}
mkdir -p "$shots"
# axe-core checks the pages for screen readers and keyboards. Only this test uses it.
version=4.14.1
axe=$(mktemp -d)
trap 'rm -rf "$axe"' EXIT
npm pack --silent --pack-destination "$axe" "axe-core@$version" >/dev/null
echo "e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745  $axe/axe-core-$version.tgz" | sha256sum --check --quiet
tar -xzf "$axe/axe-core-$version.tgz" -C "$axe" package/axe.min.js
IRIS_AXE="$axe/package/axe.min.js" IRIS_SCREENSHOTS=$(cd "$shots" && pwd) go test -count=1 -tags browser -timeout 20m ./test/browser "${@:2}"
ls "$shots"
