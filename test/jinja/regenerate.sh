#!/usr/bin/env bash
# Regenerates golden.json from the real Jinja2. Needs Python 3.11 with venv; with --check it fails if the result differs
# from the committed file.
set -euo pipefail
cd "$(dirname "$0")"
venv=${IRIS_JINJA_VENV:-$(mktemp -d)/venv}
if [ ! -x "$venv/bin/python" ]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet jinja2==3.1.6 markupsafe==3.0.3
fi
before=$(sha256sum golden.json 2>/dev/null || true)
"$venv/bin/python" golden.py
if [ "${1:-}" = --check ] && [ "$before" != "$(sha256sum golden.json)" ]; then
  echo "golden.json was stale" >&2
  exit 1
fi
