#!/usr/bin/env bash
# Installs retake for the steps of a job: a release, whose archive has to have its
# checksum, or what is built from the source beside this file. Its place goes to
# RETAKE, and its folder to PATH.
set -euo pipefail

fail() { echo "::error title=retake::$1"; exit 3; }

bin="$RUNNER_TEMP/retake-bin"
name=retake
[ "$RUNNER_OS" != Windows ] || name=retake.exe
mkdir -p "$bin"

checksum() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

release() {
  [[ "$VERSION" =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$ ]] || fail "version is neither source nor a release like v1.0.0"
  case "$RUNNER_OS" in
    Linux) os=linux ;;
    macOS) os=darwin ;;
    Windows) os=windows ;;
    *) fail "there is no release for $RUNNER_OS; say version: source" ;;
  esac
  case "$RUNNER_ARCH" in
    X64) arch=amd64 ;;
    ARM64) arch=arm64 ;;
    *) fail "there is no release for $RUNNER_ARCH; say version: source" ;;
  esac
  archive="retake_${VERSION#v}_${os}_${arch}.tar.gz"
  dir="$(mktemp -d)"
  gh release download "$VERSION" --repo retake-harness/retake --pattern "$archive" --pattern checksums.txt --dir "$dir" ||
    fail "the release $VERSION has no $archive"
  want="$SHA256"
  [ -n "$want" ] || want="$(awk -v name="$archive" '$2 == name { print $1 }' "$dir/checksums.txt")"
  [[ "$want" =~ ^[0-9a-fA-F]{64}$ ]] || fail "there is no SHA-256 of $archive to hold it against"
  got="$(checksum "$dir/$archive")"
  [ "$got" = "$(tr A-F a-f <<<"$want")" ] || fail "$archive has the SHA-256 $got, and not $want; it is not run"
  tar -xzf "$dir/$archive" -C "$bin" "$name"
}

if [ "$VERSION" = source ]; then
  (cd "$ACTION/../../.." && go build -trimpath -o "$bin/$name" ./harness/cmd/retake)
else
  release
fi
"$bin/$name" version
echo "RETAKE=$bin/$name" >>"$GITHUB_ENV"
echo "$bin" >>"$GITHUB_PATH"
