#!/usr/bin/env bash
# Checks the OpenAPI document with a validator, then sends generated requests to every operation: first signed by an application with
# all permissions, then in an administrator's session, then with a token of the administrator that may only read. No answer may be a 500,
# every answer must match the document, and with the token no change may succeed.
# IRIS_FUZZ_SECONDS is the time for each of the three (default 25).
set -euo pipefail
cd "$(dirname "$0")/.."
. test/lib.sh
here=$PWD
need curl curl
need python3 python3
work=$(mktemp -d)
chmod 755 "$work"
finish() { stop_dev; rm -rf "$work"; }
trap finish EXIT
python_with "$work/venv" test/fuzz/requirements.txt
start_dev "$work"

echo "--- the document is valid"
curl -fsS "$api/openapi.json" >"$work/openapi.json"
"$work/venv/bin/python" -c '
import json, sys
from openapi_spec_validator import OpenAPIV31SpecValidator
doc = json.load(open(sys.argv[1]))
OpenAPIV31SpecValidator(doc).validate()
print(sum(len(i) for i in doc["paths"].values()), "operations")' "$work/openapi.json"

fuzz() {
  (cd "$work" && SCHEMATHESIS_HOOKS=hooks PYTHONPATH="$here/test/fuzz" "$work/venv/bin/schemathesis" run "$work/openapi.json" --url "$api" \
    --phases examples,coverage,fuzzing --max-time "${IRIS_FUZZ_SECONDS:-25}" --workers 1 --continue-on-failure \
    --checks "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance${IRIS_FUZZ_BEARER:+,no_change_succeeds}" \
    --suppress-health-check all --warnings off --request-timeout 20 --generation-database none "$@") || { grep -h '"level":"error"' "$work/state/log/"*api* | tail -20; return 1; }
}
echo "--- as an application with all permissions"
IRIS_FUZZ_APP=fuzz IRIS_FUZZ_KEY=$("$work/iris" app add fuzz --acts-for-users --opens-for-others --uses-on-call --relay --variable title)
export IRIS_FUZZ_APP IRIS_FUZZ_KEY
fuzz --exclude-path-regex '^/log(in|out)'
# sign_in NAME adds an administrator, signs in and sets IRIS_FUZZ_COOKIE and IRIS_FUZZ_TOKEN.
sign_in() {
  echo "a password of $1" | "$work/iris" user add "$1" --admin --email "$1@example.com"
  curl -fsS -c "$work/cookies" -o "$work/session.json" -d "username=$1" --data-urlencode "password=a password of $1" "$api/login"
  IRIS_FUZZ_COOKIE=$(awk '$6 == "iris-auth" {print $7}' "$work/cookies")
  IRIS_FUZZ_TOKEN=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["csrf_token"])' "$work/session.json")
  [ -n "$IRIS_FUZZ_COOKIE" ]
}
echo "--- in an administrator's session"
sign_in fuzzer
export IRIS_FUZZ_COOKIE IRIS_FUZZ_TOKEN
# Ids of sessions are small numbers: a request may end the session that sends it, and the rest would be refused.
fuzz --exclude-path-regex '^/(log(in|out)|(v1/)?sessions/|v0/)'
echo "--- with a token of the administrator that may only read"
# Another administrator, because the requests before may have changed the first.
sign_in reader
curl -fsS -b "$work/cookies" -H "X-CSRF-TOKEN: $IRIS_FUZZ_TOKEN" -H 'Content-Type: application/json' -o "$work/token.json" \
  -d '{"name": "fuzzer", "scopes": ["read"]}' "$api/v1/tokens"
IRIS_FUZZ_BEARER=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["token"])' "$work/token.json")
export IRIS_FUZZ_BEARER
# The token may revoke itself, and would then be refused everywhere.
fuzz --exclude-path-regex '^/(log(in|out)|v1/tokens/current)'
# The token still reads.
curl -fsS -H "Authorization: Bearer $IRIS_FUZZ_BEARER" -o "$work/incidents.json" "$api/v1/incidents"
