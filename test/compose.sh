#!/usr/bin/env bash
# Starts PostgreSQL, an API and two processors with exactly the commands and environment of deploy/compose.yaml, and opens an incident.
# Each runs in its own network namespace, joined by a bridge, and in a root directory with the content of the image.
set -euo pipefail
cd "$(dirname "$0")/.."
. test/lib.sh
need ip iproute2
need curl curl
need openssl openssl
[ -d /usr/lib/postgresql/15 ] || need /usr/lib/postgresql/15/bin/postgres postgresql-15
make -s release
work=$(mktemp -d)
chmod 755 "$work"
id=irisc$$
hosts=(lan db api p1 p2)
pids=()
cleanup() {
  for p in "${pids[@]}"; do kill "$p" 2>/dev/null || true; done
  for p in "${pids[@]}"; do wait "$p" 2>/dev/null || true; done
  for h in "${hosts[@]}"; do ip netns del "$id-$h" 2>/dev/null || true; done
  rm -rf "$work"
}
trap cleanup EXIT

# The network: 10.77.0.0/24 inside namespaces of our own.
ip netns add "$id-lan"
ip -n "$id-lan" link add br0 type bridge
ip -n "$id-lan" link set br0 up
n=1
for h in db api p1 p2; do
  n=$((n + 1))
  ip netns add "$id-$h"
  ip link add "v$n" netns "$id-$h" type veth peer name "b$n" netns "$id-lan"
  ip -n "$id-lan" link set "b$n" master br0 up
  ip -n "$id-$h" addr add "10.77.0.$n/24" dev "v$n"
  ip -n "$id-$h" link set "v$n" up
  ip -n "$id-$h" link set lo up
done

# The content of the image, and the name service that Compose gives.
root=$work/root
mkdir -p "$root/etc/ssl/certs" "$root/etc/iris"
cp deploy/iris.yaml "$root/etc/iris/iris.yaml"
cp dist/iris dist/iris-api dist/message-processor "$root/"
cp dist/ca-certificates.crt "$root/etc/ssl/certs/"
printf '127.0.0.1 localhost\n10.77.0.2 postgres\n10.77.0.3 api\n' >"$root/etc/hosts"

IRIS_SECRET_KEY=$(openssl rand -base64 32)
export IRIS_SECRET_KEY IRIS_DB_PASSWORD=compose-test IRIS_PUBLIC_URL=http://10.77.0.3:16649
export IRIS_SMTP_ADDR=10.77.0.3:2525 IRIS_SMTP_FROM=iris@example.com

# service HOST SERVICE [WORD...] becomes the service as the Compose file says; the words replace its command. It replaces the shell
# that calls it, so that the process id is the service's own: call it in the background or in parentheses.
service() {
  local host=$1 name=$2 line env=() cmd=() part=env
  shift 2
  while IFS= read -r line; do
    if [ -z "$line" ]; then part=cmd; continue; fi
    if [ $part = env ]; then env+=("$line"); else cmd+=("$line"); fi
  done < <(go run ./test/compose deploy/compose.yaml "$name")
  [ $# -gt 0 ] && cmd=("$@")
  exec ip netns exec "$id-$host" env -i "${env[@]}" "$(command -v chroot)" --userspec=65532:65532 "$root" "${cmd[@]}"
}

bin=/usr/lib/postgresql/15/bin
install -d -o postgres "$work/pg"
printf '%s' "$IRIS_DB_PASSWORD" >"$work/pw"
chmod 644 "$work/pw"
runuser -u postgres -- "$bin/initdb" -D "$work/pg/data" -U iris -E UTF8 --locale=C -A scram-sha-256 --pwfile="$work/pw" >/dev/null
echo 'host all all 10.77.0.0/24 scram-sha-256' >>"$work/pg/data/pg_hba.conf"
ip netns exec "$id-db" runuser -u postgres -- "$bin/postgres" -D "$work/pg/data" -c listen_addresses='*' -c unix_socket_directories='' >"$work/pg.log" 2>&1 &
pids+=($!)
wait_for 30 PostgreSQL ip netns exec "$id-db" "$bin/pg_isready" -q -h 10.77.0.2 -U iris
PGPASSWORD=$IRIS_DB_PASSWORD ip netns exec "$id-db" "$bin/createdb" -h 10.77.0.2 -U iris iris 2>/dev/null || true

(service api migrate)
printf 'a long enough password\n' | (service api migrate /iris user add alice --admin --email alice@example.com)
key=$( (service api migrate /iris app add compose) | grep -oE '[0-9a-f]{64}')
service api api >"$work/api.log" 2>&1 &
pids+=($!)
for h in p1 p2; do
  service $h processor >"$work/$h.log" 2>&1 &
  pids+=($!)
done
here() { ip netns exec "$id-api" "$@"; }
export -f hmac_post hmac_get
wait_for 60 "incidents to be paged" here curl -fsS http://10.77.0.3:16649/readyz/paging || { tail -n 8 "$work"/*.log; exit 1; }
for h in api p1 p2; do
  name=${h/p[12]/processor}
  mapfile -t check < <(go run ./test/compose deploy/compose.yaml "$name" healthcheck | sed '1,/^$/d')
  healthy() { (service $h $name "${check[@]}"); }
  wait_for 30 "the health check of $h" healthy || { tail -n 8 "$work"/*.log; exit 1; }
done
here curl -fsS http://10.77.0.3:16651/metrics | grep '^iris_' >/dev/null || { echo "the API's metrics cannot be scraped" >&2; exit 1; }
here curl -fsS http://10.77.0.4:16650/metrics | grep '^iris_' >/dev/null || { echo "a processor's metrics cannot be scraped" >&2; exit 1; }
api=http://10.77.0.3:16649
template='{"name":"t","creator":"alice","content":{"compose":{"email":{"subject":"{{ what }}","body":"{{ what }}"}}}}'
plan='{"name":"p","creator":"alice","description":"","threshold_window":900,"threshold_count":10,"aggregation_window":300,"aggregation_reset":300,"steps":[[{"role":"user","target":"alice","priority":"low","template":"t","wait":60,"repeat":0}]]}'
as() { here bash -c "$(declare -f hmac_post hmac_get); \"\$@\"" _ "$@"; }
psql_here() { PGPASSWORD=$IRIS_DB_PASSWORD ip netns exec "$id-db" psql -qAt -h 10.77.0.2 -U iris iris -c "$1"; }
psql_here "update applications set allow_authenticating_users = true where name = 'compose'; insert into application_variables (application_id, name) select id, 'what' from applications where name = 'compose'" >/dev/null
as hmac_post $api/v0/templates compose "$key" "$template" >/dev/null
as hmac_post $api/v0/plans compose "$key" "$plan" >/dev/null
incident=$(as hmac_post $api/v0/incidents compose "$key" '{"plan":"p","context":{"what":"disk full"}}')
# No mail server listens: the page must be kept, and the timeline must say that the server cannot be reached.
tried() { [ "$(psql_here "select count(*) from attempts a join messages m on m.id = a.message_id where m.incident_id = $incident and a.outcome = 'unavailable'")" -gt 0 ]; }
wait_for 20 "an attempt of delivery" tried || { tail -n 8 "$work"/*.log; exit 1; }
owners=$(psql_here "select count(distinct owner) from bucket_leases where owner is not null")
[ "$owners" = 2 ] || { echo "expected two processors to share the buckets, found $owners" >&2; exit 1; }
echo "compose: API and two processors started as deploy/compose.yaml says, incident $incident tried"
