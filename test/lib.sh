# Shared by the scripts in test/: installing what they need, waiting, and cleaning up.

# need COMMAND PACKAGE: installs Debian's package when the command is missing. One apt-get at a time.
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

# hmac_post URL APP KEY JSON: a signed POST, as any client of the v0 API makes it. Prints the answer's body.
hmac_post() {
  local path=/${1#*://*/} digest
  digest=$(printf '%s POST %s %s' "$(($(date +%s) / 5))" "$path" "$4" | openssl dgst -sha512 -hmac "$3" -binary | base64 -w0 | tr '+/' '-_')
  curl -fsS -X POST -H "Authorization: hmac $2:$digest" -d "$4" "$1"
}

# hmac_get URL APP KEY: a signed GET.
hmac_get() {
  local path=/${1#*://*/} digest
  digest=$(printf '%s GET %s ' "$(($(date +%s) / 5))" "$path" | openssl dgst -sha512 -hmac "$3" -binary | base64 -w0 | tr '+/' '-_')
  curl -fsS -H "Authorization: hmac $2:$digest" "$1"
}
