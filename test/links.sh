#!/usr/bin/env bash
# Checks that these exist: the target of each relative link and each `path` in a document, the pages and sections that comments cite,
# the log lines that docs/operations.md quotes, and the tests that docs/security.md names.
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
while IFS= read -r number; do
  ls docs/adr/"$number"-*.md >/dev/null 2>&1 || { echo "docs/adr/$number is cited and does not exist" >&2; bad=1; }
done < <(git grep -hoE '(docs/adr/|ADR )[0-9]{4}' -- '*.go' '*.sql' '*.md' '*.sh' | grep -oE '[0-9]{4}$' | sort -u)
while IFS= read -r record; do
  grep -q "($(basename "$record"))" docs/adr/README.md || { echo "docs/adr/README.md does not list $record" >&2; bad=1; }
done < <(git ls-files 'docs/adr/0*.md')
while read -r page section; do
  grep -qE "^##+ $section\.? " "$page" || { echo "$page has no section $section, which a comment cites" >&2; bad=1; }
done < <(git grep -hoE 'docs/reference/[a-z0-9-]+\.md [0-9]+(\.[0-9]+)?' -- '*.go' '*.sql' '*.js' | sort -u)
while IFS= read -r line; do
  git grep -qF -- "\"$line\"" -- '*.go' || { echo "docs/operations.md quotes a log line that no program has: $line" >&2; bad=1; }
done < <(sed -n '/^## What the log says/,/^## /s/^| `\([^`]*\)`.*/\1/p' docs/operations.md)
while read -r name; do
  git grep -qE "^func $name\(" -- '*_test.go' || { echo "docs/security.md names a test that does not exist: $name" >&2; bad=1; }
done < <(grep -oE '`Test[A-Z][A-Za-z0-9]+`' docs/security.md | tr -d '`' | sort -u)
exit $bad
