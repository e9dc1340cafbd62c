#!/usr/bin/env bash
# Builds the image of deploy/Dockerfile with buildah and checks its content.
set -euo pipefail
cd "$(dirname "$0")/.."
. test/lib.sh
need buildah buildah
make -s release
export STORAGE_DRIVER=vfs
store=$(mktemp -d)
bah() { buildah --root "$store/root" --runroot "$store/run" "$@"; }
cleanup() {
  bah rm -a >/dev/null 2>&1 || true
  rm -rf "$store"
}
trap cleanup EXIT
bah bud -q --isolation chroot -f deploy/Dockerfile -t iris . >/dev/null
box=$(bah from iris)
user=$(bah inspect --type image --format '{{.OCIv1.Config.User}}' iris)
[ "$user" = 65532:65532 ] || { echo "the image runs as '$user'" >&2; exit 1; }
bah run --isolation chroot "$box" -- /iris version
bah run --isolation chroot "$box" -- /iris-api --version
bah run --isolation chroot "$box" -- /message-processor --version
echo "image: built from scratch, runs as $user"
