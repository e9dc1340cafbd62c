#!/usr/bin/env bash
# Takes screenshots of every page of the console with four data sets, for people to look at: test/screenshots.sh FOLDER [DATA SET...].
# The data sets are hostile, empty, typical and huge. FOLDER/index.html shows all, FOLDER/PAGE--DATASET--LOOK.png are the pictures.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need chromium chromium
folder=${1:?usage: test/screenshots.sh FOLDER [hostile|empty|typical|huge...]}
shift
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
cd "$(dirname "$0")/.."
IRIS_SCREENSHOTS=$folder IRIS_DATA_SETS="$*" go test -count=1 -tags browser,screenshots -timeout 60m -run '^TestScreenshots$' ./test/browser
echo "$folder/index.html"
