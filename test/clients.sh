#!/usr/bin/env bash
# Tests the predecessors' official Python clients, and clients of PagerDuty and Opsgenie, installed as their users do, against a running server.
set -euo pipefail
cd "$(dirname "$0")/.."
. test/lib.sh
need curl curl
need python3 python3
work=$(mktemp -d)
chmod 755 "$work"
finish() { stop_dev; rm -rf "$work"; }
trap finish EXIT
python_with "$work/venv" test/clients/requirements.txt
start_dev "$work"

echo "--- irisclient posts incidents and notifications"
"$work/iris" app set demo --relay # it relays responses, as iris-relay does
ids=$("$work/venv/bin/python" test/clients/iris.py "$api" demo demo-key)
arrived() { curl -fsS "$api/dev/mailbox.json" | python3 -c '
import json, sys
got = {m["incident_id"] for m in json.load(sys.stdin)}
sys.exit(not set(map(int, sys.argv[1:])) <= got)' "$@"; }
# shellcheck disable=SC2086
wait_for 20 "messages of the incidents $ids" arrived $ids
echo "incidents $ids were delivered"

echo "--- oncallclient asks who is on call"
key=$("$work/iris" app add roster-sync --uses-on-call 2>/dev/null)
on_call() { hmac_get "$api/api/v0/teams/demo/oncall/$1" roster-sync "$key" | grep '"user"' >/dev/null; }
wait_for 30 "the demo calendars to be filled" on_call primary
wait_for 30 "the demo calendars to be filled" on_call secondary
"$work/venv/bin/python" test/clients/oncall.py "$api" roster-sync "$key" demo demo-key

echo "--- clients of PagerDuty and Opsgenie send alerts"
token() { "$work/iris" integration add "$1" --type "$2" --application demo --plan demo-plan --rate 6000 2>/dev/null | sed -n 's/^token: //p'; }
pagerduty=$(token clients-pagerduty pagerduty)
opsgenie=$(token clients-opsgenie opsgenie)
"$work/venv/bin/python" test/clients/pagerduty.py "$api" "$pagerduty"
"$work/venv/bin/python" test/clients/opsgenie.py "$api" "$opsgenie"
(cd test/clients/events && go build -o "$work/events" .)

echo "--- clients of PagerDuty's REST API acknowledge and resolve"
echo "a password of the scripts" | "$work/iris" user add scripts --admin --email scripts@example.com
curl -fsS -c "$work/cookies" -o "$work/session.json" -d username=scripts --data-urlencode "password=a password of the scripts" "$api/login"
field() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }
csrf=$(field csrf_token <"$work/session.json")
personal=$(curl -fsS -b "$work/cookies" -H "X-CSRF-TOKEN: $csrf" -H 'Content-Type: application/json' \
  -d '{"name": "scripts", "scopes": ["read", "incidents"]}' "$api/v1/tokens" | field token)
open_incident() { curl -fsS -H "Authorization: Bearer $personal" -H 'Content-Type: application/json' -d '{"plan": "demo-plan", "application": "demo", "title": "'"$1"'"}' "$api/v1/incidents" | field id; }
"$work/venv/bin/python" test/clients/pagerduty_rest.py "$api" "$personal" "$(open_incident 'for pdpyras')"
"$work/events" "${api#http://}" "$pagerduty" "$opsgenie" "$personal" "$(open_incident 'for go-pagerduty')"
