#!/usr/bin/env bash
# Compares the engine with the real Jinja2 over random templates: differ.sh [SECONDS [SEED]]. Needs Python 3.11 with venv.
set -euo pipefail
cd "$(dirname "$0")"
seconds=${1:-60} seed=${2:-$RANDOM}
venv=${IRIS_JINJA_VENV:-$(mktemp -d)/venv}
if [ ! -x "$venv/bin/python" ]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet jinja2==3.1.6 markupsafe==3.0.3
fi
context=$(mktemp)
trap 'rm -f "$context"' EXIT
"$venv/bin/python" -c 'import cases; print(cases.CONTEXT)' >"$context"
echo "seed $seed, $seconds seconds"
"$venv/bin/python" -W ignore generate.py "$seed" "$seconds" | go run ./differ "$context"
