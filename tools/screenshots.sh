#!/usr/bin/env bash
# Makes the pictures of the README, docs/images/*.png, from the pages of `iris dev`.
set -euo pipefail
cd "$(dirname "$0")/.."
. test/lib.sh
need chromium chromium
shots=$(mktemp -d)
trap 'rm -rf "$shots"' EXIT
IRIS_SCREENSHOTS=$shots go test -count=1 -tags browser -run '^TestPictures$' ./test/browser
mkdir -p docs/images
cp "$shots/calendar.png" "$shots/incident.png" docs/images/
ls -l docs/images
