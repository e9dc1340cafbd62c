#!/usr/bin/env bash
# Tests the first minutes of a new user: clone, go run ./cmd/iris dev in a fresh home, run the printed commands, open the link, press
# the button, and stop with Ctrl-C. Then it kills iris dev while it pages, and `go run`, its parent. No process may be left, and the
# next start continues with the accepted incidents.
set -euo pipefail
cd "$(dirname "$0")/.."
. test/lib.sh
need curl curl
need openssl openssl
need python3 python3
need pgrep procps
work=$(mktemp -d)
chmod 755 "$work"
git clone -q . "$work/iris"
modules=$(go env GOMODCACHE) builds=$(go env GOCACHE)
mkdir "$work/home"
cd "$work/iris"
env -u IRIS_DATABASE_URL HOME="$work/home" GOMODCACHE="$modules" GOCACHE="$builds" go build -o "$work/built" ./cmd/iris
start() { # starts it as a new user does; $dev becomes the process id of go run
  env -u IRIS_DATABASE_URL HOME="$work/home" GOMODCACHE="$modules" GOCACHE="$builds" IRIS_STATE_DIR="$work/state" \
    go run ./cmd/iris dev --processors 2 >"$work/out" 2>&1 &
  dev=$!
  wait_for 120 "iris dev to be ready" ready || { cat "$work/out"; return 1; }
}
tree() { # prints all descendants of process $1
  local p
  for p in $(pgrep -P "$1" || true); do
    echo "$p"
    tree "$p"
  done
}
stop() {
  # Ctrl-C signals the whole foreground group; here the script signals the program itself.
  local p
  for p in $(pgrep -P $dev || true); do kill -INT "$p" 2>/dev/null || true; done
  kill -INT $dev 2>/dev/null || true
  wait $dev 2>/dev/null || true
}
finish() { [ -z "${dev:-}" ] || stop; rm -rf "$work"; }
trap finish EXIT
say() { echo "--- $*"; }
api=http://127.0.0.1:16649
ready() { curl -fsS $api/readyz/paging; }
nothing_left() { # waits until the processes have ended
  local p
  for p in "$@"; do
    gone() { ! kill -0 "$p" 2>/dev/null; }
    wait_for 20 "process $p to end" gone || { ps -o pid,args -p "$p"; return 1; }
  done
  if curl -fsS $api/livez >/dev/null 2>&1; then echo "something still answers on $api" >&2; return 1; fi
}
start
wait_for 5 "the addresses to be printed" grep -q 'v0/webhooks/alertmanager' "$work/out"
cat "$work/out"

say "the printed commands work in a new shell"
# A command is one line, or lines that end in a backslash.
awk '/curl/{on=1} on{print; if ($0 !~ /\\$/) {on=0; print "#end"}}' "$work/out" >"$work/commands"
grep -q 'v0/webhooks/alertmanager' "$work/commands"
grep -q 'v0/incidents' "$work/commands"
mapfile -d '' commands < <(python3 -c '
import sys
for c in open(sys.argv[1]).read().split("#end\n"):
    if c.strip(): sys.stdout.write(c.strip()+"\0")' "$work/commands" 2>/dev/null)
ids=()
for c in "${commands[@]}"; do
  case $c in
    *webhooks/alertmanager* | *v0/incidents*) id=$(env -i PATH="$PATH" bash -c "$c"); ids+=("$id"); say "incident $id" ;;
  esac
done
[ ${#ids[@]} -ge 2 ] || { echo "expected two commands that open incidents" >&2; exit 1; }

say "an e-mail, a text and a Slack message arrive"
mailbox() { curl -fsS $api/dev/mailbox.json; }
arrived() { mailbox | python3 -c '
import json, sys
want = int(sys.argv[1])
modes = {m["mode"] for m in json.load(sys.stdin) if m["incident_id"] == want}
sys.exit(not {"email", "sms", "slack"} <= modes)' "$1"; }
for id in "${ids[@]}"; do wait_for 15 "three messages of incident $id" arrived "$id" || { mailbox; exit 1; }; done

say "the link shows, and only the button acts"
link=$(mailbox | python3 -c '
import json, sys
for m in json.load(sys.stdin):
    if m["incident_id"] == int(sys.argv[1]) and m["mode"] == "email":
        print(next(l for l in m["links"] if "/ack/" in l)); break' "${ids[0]}")
state() { hmac_get "$api/v0/incidents/$1" demo demo-key | python3 -c 'import json,sys; i=json.load(sys.stdin); print(i["active"], i["owner"])'; }
curl -fsS "$link" | grep -i 'acknowledge' >/dev/null
[ "$(state "${ids[0]}")" = "1 None" ] || { echo "looking at the link changed the incident" >&2; exit 1; }
curl -fsS -X POST "$link" | grep 'Acknowledged by demo' >/dev/null
[ "$(state "${ids[0]}")" = "0 demo" ] || { state "${ids[0]}"; exit 1; }

say "Ctrl-C leaves nothing behind"
children=$(tree $dev)
stop
nothing_left $children

say "iris dev is killed while it pages; the next start goes on"
start
program=$(pgrep -P $dev)
children=$(tree $dev)
id=$(hmac_post $api/v0/incidents demo demo-key '{"plan":"demo-plan","context":{"title":"killed in the middle"}}')
kill -KILL "$program"
wait $dev 2>/dev/null || true
nothing_left $children
start
[ "$(state "${ids[0]}")" = "0 demo" ] || { echo "the acknowledgement is lost" >&2; exit 1; }
[ "$(state "$id")" = "1 None" ] || { echo "incident $id is lost" >&2; exit 1; }
reached() { hmac_get "$api/v0/messages?incident_id=$id" demo demo-key | python3 -c '
import json, sys
sys.exit(not {"email", "sms", "slack"} <= {m["mode"] for m in json.load(sys.stdin) if m["sent"]})'; }
wait_for 30 "the pages of incident $id" reached || { hmac_get "$api/v0/messages?incident_id=$id" demo demo-key; exit 1; }

# Last, because so many incidents of one application become digests, and later pages wait.
say "every sample of every recipe is understood"
hmac_get "$api/v1/recipes?limit=500" demo demo-key >"$work/recipes.json"
python3 - "$api" "$work/recipes.json" <<'PY'
import json, sys, time, urllib.error, urllib.request
def deliver(request):
    for _ in range(20):
        try:
            return json.load(urllib.request.urlopen(request))["events"]
        except urllib.error.HTTPError as refused:
            if refused.code != 429: sys.exit(f"{refused.code}: {refused.read().decode()}")
            time.sleep(float(refused.headers["Retry-After"]))
    sys.exit("refused 20 times")
api, recipes = sys.argv[1], json.load(open(sys.argv[2]))["items"]
for recipe in recipes:
    outcomes = []
    for sample in recipe["samples"]:
        kind = "email" if sample["mail"] else "generic"
        request = urllib.request.Request(f"{api}/v1/hooks/{kind}/demo-{kind}", sample["body"].encode(),
                                         {"Content-Type": sample["content_type"] or "application/json"})
        outcomes += [e["outcome"] for e in deliver(request)]
    if "opened" not in outcomes or "refused" in outcomes:
        sys.exit(f"the samples of {recipe['name']} did this: {outcomes}")
print(len(recipes), "recipes")
PY

say "killing go run ends what it ran"
children=$(tree $dev)
kill -KILL $dev
wait $dev 2>/dev/null || true
nothing_left $children
dev=
echo "dev: paged, acknowledged, stopped, killed"
