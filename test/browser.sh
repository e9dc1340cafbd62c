#!/usr/bin/env bash
# Drives the pages of `iris dev` in a real Chromium: log in, see the incident appear, acknowledge it, look at the cluster and
# the mailbox; drag an override and see the page go to the new person, swap, make, move,
# resize and give away shifts by dragging, lose the session in the middle of an edit, order a roster, populate a schedule, take the
# pager on a phone. Screenshots go to the folder given as the first argument, or to a temporary one.
set -euo pipefail
cd "$(dirname "$0")/.."
. test/lib.sh
need chromium chromium
shots=${1:-$(mktemp -d)}
mkdir -p "$shots"
IRIS_SCREENSHOTS=$(cd "$shots" && pwd) go test -count=1 -tags browser -timeout 5m ./test/browser
ls "$shots"
