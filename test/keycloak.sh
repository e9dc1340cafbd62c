#!/usr/bin/env bash
# Logs people in at a real Keycloak with a real Chromium: accounts, roles and teams from groups, links, key rotation, logout in both
# directions, and a Keycloak that is down. Keycloak is downloaded once. The test starts and ends it.
# Arguments are given to go test. Screenshots go to the folder in IRIS_SCREENSHOTS, if it is set.
set -euo pipefail
cd "$(dirname "$0")/.."
. test/lib.sh
need chromium chromium
need curl curl
need java openjdk-17-jre-headless
need unzip unzip
version=26.0.8
sum=d82a52098db41f036bcfe8f2ebfd9251781c8af5959af8714e8aa9b311081786
kept=$(go env GOCACHE)/keycloak-$version.zip
mkdir -p "$(dirname "$kept")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
intact() { echo "$sum  $1" | sha256sum --check --quiet; }
if ! intact "$kept" 2>/dev/null; then
  curl -fsS --retry 3 -o "$tmp/keycloak.zip" "https://repo1.maven.org/maven2/org/keycloak/keycloak-quarkus-dist/$version/keycloak-quarkus-dist-$version.zip"
  intact "$tmp/keycloak.zip"
  mv "$tmp/keycloak.zip" "$kept"
fi
unzip -q "$kept" -d "$tmp"
IRIS_KEYCLOAK="$tmp/keycloak-$version" go test -count=1 -tags keycloak -timeout 5m "$@" ./test/browser
