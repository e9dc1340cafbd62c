# Functions of the scripts in test/: install programs, wait, clean up.
# Do not end a pipe in grep -q under pipefail: grep closes the pipe at the first match, and the writer then fails.

# need COMMAND PACKAGE: installs the Debian package if the command is missing. Only one apt-get runs at a time.
need() {
  command -v "$1" >/dev/null 2>&1 && return 0
  echo "installing $2"
  (
    flock 9
    [ -n "$(find /var/lib/apt/lists -name '*_Packages*' -mmin -600 2>/dev/null | head -1)" ] || apt-get update -qq >/dev/null
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$2" >/dev/null
  ) 9>/tmp/iris-apt.lock
}

# wait_for SECONDS WHAT COMMAND...: polls until the command succeeds.
wait_for() {
  local until=$(($(date +%s) + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    if [ "$(date +%s)" -ge "$until" ]; then
      echo "gave up waiting for $what" >&2
      return 1
    fi
    read -r -t 0.2 <> <(:) || true
  done
}

# hmac_post URL APP KEY JSON: sends a signed POST as a client of the v0 API does, and prints the body of the answer.
hmac_post() {
  local path=/${1#*://*/} digest
  digest=$(printf '%s POST %s %s' "$(($(date +%s) / 5))" "$path" "$4" | openssl dgst -sha512 -hmac "$3" -binary | base64 -w0 | tr '+/' '-_')
  curl -fsS -X POST -H "Authorization: hmac $2:$digest" -d "$4" "$1"
}

# hmac_get URL APP KEY: sends a signed GET and prints the body of the answer.
hmac_get() {
  local path=/${1#*://*/} digest
  digest=$(printf '%s GET %s ' "$(($(date +%s) / 5))" "$path" | openssl dgst -sha512 -hmac "$3" -binary | base64 -w0 | tr '+/' '-_')
  curl -fsS -H "Authorization: hmac $2:$digest" "$1"
}

# free_port: prints a port that nobody listens on. It is outside the range from which the kernel chooses ports.
free_port() {
  python3 - <<'EOF'
import random, socket
while True:
    port = random.randrange(12000, 20000)
    with socket.socket() as s:
        try:
            s.bind(("127.0.0.1", port))
        except OSError:
            continue
    print(port)
    break
EOF
}

# start_dev DIR: builds iris into DIR, starts `iris dev` there with an empty state directory, and waits until it is ready. Sets $api
# (its address), $dev (its process id) and $IRIS_DATABASE_URL, for the iris command. stop_dev stops it.
start_dev() {
  unset IRIS_DATABASE_URL
  go build -o "$1/iris" ./cmd/iris
  api=http://127.0.0.1:$(free_port)
  IRIS_STATE_DIR="$1/state" IRIS_HTTP_ADDR="${api#http://}" "$1/iris" dev >"$1/dev.out" 2>&1 &
  dev=$!
  wait_for 120 "iris dev to be ready" curl -fsS "$api/readyz/paging" || { cat "$1/dev.out"; return 1; }
  wait_for 30 "iris dev to print its addresses" grep -q '^  Database' "$1/dev.out"
  IRIS_DATABASE_URL=$(awk '/^  Database/{print $2}' "$1/dev.out")
  export IRIS_DATABASE_URL
}
stop_dev() {
  [ -z "${dev:-}" ] || { kill -INT "$dev" 2>/dev/null || true; wait "$dev" 2>/dev/null || true; }
  unset dev
}

# python_with DIR REQUIREMENTS: creates a virtual environment in DIR with the packages of the requirements file.
python_with() {
  need python3 python3
  python3 -m venv "$1" 2>/dev/null || { need /usr/share/python-venv python3-venv; python3 -m venv "$1"; }
  "$1/bin/pip" install -q --disable-pip-version-check -r "$2"
}
