#!/usr/bin/env bash
# Every relative link and every `path` that the papers name must exist.
set -euo pipefail
cd "$(dirname "$0")/.."
bad=0
while IFS= read -r file; do
  dir=$(dirname "$file")
  while IFS= read -r link; do
    path=${link%%#*}
    [ -z "$path" ] && continue
    [ -e "$dir/$path" ] || { echo "$file: $link does not exist" >&2; bad=1; }
  done < <(grep -oE '\]\([^)]+\)' "$file" | sed 's/^](//; s/)$//' | grep -vE '^(https?|mailto):' || true)
  while IFS= read -r path; do
    [ -e "$path" ] || { echo "$file: \`$path\` does not exist" >&2; bad=1; }
  done < <(grep -oE '`(internal|cmd|docs|deploy|test|migrations|tools)/[A-Za-z0-9_./-]+`' "$file" | tr -d '\`' | sed 's/\.$//' || true)
done < <(git ls-files '*.md')
exit $bad
