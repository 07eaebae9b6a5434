#!/bin/sh
# Installs the reprise binary of a release: https://github.com/OWNER/reprise/releases
#
#   curl -fsSL https://github.com/OWNER/reprise/releases/latest/download/install.sh | sh
#
# Environment:
#   REPRISE_VERSION       version to install, such as 0.1.0 (default: the latest release)
#   REPRISE_INSTALL_DIR   folder of the binary (default: ~/.local/bin)
#   REPRISE_DOWNLOAD_URL  base URL of a mirror with the layout of a GitHub releases page
#
# Everything is in functions, and the last line calls main: a script that arrives in part runs nothing.
set -eu

# fail MESSAGE HINT
fail() {
  printf 'error: %s\nhint: %s\n' "$1" "$2" >&2
  exit 1
}

# Sets `url`, the folder of the release: https, or any scheme on this machine.
find_release() {
  url=${REPRISE_DOWNLOAD_URL:-https://github.com/OWNER/reprise/releases}
  case ${REPRISE_VERSION:-latest} in
    latest) url=${url%/}/latest/download ;;
    *) url=${url%/}/download/v${REPRISE_VERSION#v} ;;
  esac
  host=${url#*://}
  host=${host%%/*}
  case $url in
    # With these characters alone, a host ends at the first slash, or at the colon of its port.
    *[!A-Za-z0-9/:._~+-]* | */..*) ;;
    https://github.com/OWNER/*) fail "This install.sh names no repository" "Use install.sh of a release" ;;
    https://*) return ;;
    http://*) case ${host%:*} in 127.0.0.1 | localhost) return ;; esac ;;
  esac
  fail "Cannot download from $url" "Set REPRISE_DOWNLOAD_URL to an https URL without a user, a query or .."
}

# download NAME: fetches a file of the release into the temporary folder.
download() {
  curl --proto '=http,https' --proto-redir '=https' -fsSL --retry 2 --connect-timeout 30 -o "$work/$1" "$url/$1" ||
    fail "Cannot download $url/$1" "Check the version and the network, and run the script again"
}

main() {
  find_release
  case $(uname -s)-$(uname -m) in
    Linux-x86_64 | Linux-amd64) name=reprise-linux-x64 ;;
    Linux-aarch64 | Linux-arm64) name=reprise-linux-arm64 ;;
    Darwin-x86_64) name=reprise-macos-x64 ;;
    Darwin-arm64) name=reprise-macos-arm64 ;;
    *) fail "No binary for $(uname -s) on $(uname -m)" "Compile reprise from its source" ;;
  esac
  folder=${REPRISE_INSTALL_DIR:-$HOME/.local/bin}
  work=
  trap '[ -z "$work" ] || rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM
  # In the same folder, so that the last step is a rename.
  { mkdir -p "$folder" && work=$(mktemp -d "$folder/.reprise.XXXXXX") && [ ! -d "$folder/reprise" ]; } ||
    fail "Cannot install into $folder" "Set REPRISE_INSTALL_DIR to another folder"
  download SHA256SUMS
  download "$name.tar.gz"
  checksum=sha256sum
  command -v sha256sum >/dev/null || checksum='shasum -a 256'
  expected=$(awk -v name="$name.tar.gz" '$2 == name { print $1 }' "$work/SHA256SUMS")
  actual=$($checksum <"$work/$name.tar.gz" | cut -c 1-64)
  if [ -z "$actual" ] || [ "$actual" != "$expected" ]; then
    fail "The checksum of $name.tar.gz is \"$actual\", and SHA256SUMS has \"$expected\"" "Run the script again"
  fi
  tar -xzof "$work/$name.tar.gz" -C "$work" || fail "Cannot unpack $name.tar.gz" "Check the disk, and run the script again"
  # A cut executable fails in its runtime, with pages about it, or with a signal.
  { version=$("$work/$name/reprise" --version); } 2>/dev/null ||
    fail "The downloaded reprise does not start" "It is damaged, or this system is too old; on Linux it needs glibc, not musl"
  case $("$work/$name/reprise" doctor --json 2>/dev/null) in
    *'"name":"executable","level":"ok"'*) ;;
    *) fail "The downloaded reprise does not fit its own checksum" "Run the script again" ;;
  esac
  mv -f "$work/$name/reprise" "$folder/reprise"
  printf 'Installed reprise %s: %s\n' "$version" "$folder/reprise"
  case :$PATH: in *:"$folder":*) ;; *) printf 'Add %s to PATH\n' "$folder" ;; esac
}

main "$@"
