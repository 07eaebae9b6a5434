#!/bin/sh
# Installs the reprise binary from a release: https://github.com/OWNER/reprise/releases
#
#   curl -fsSL https://github.com/OWNER/reprise/releases/latest/download/install.sh | sh
#
# Environment:
#   REPRISE_VERSION       version to install, such as 0.1.0 (default: the latest release)
#   REPRISE_INSTALL_DIR   folder of the binary (default: ~/.local/bin)
#   REPRISE_DOWNLOAD_URL  base URL of a mirror with the layout of a GitHub releases page
#   REPRISE_REPOSITORY    GitHub repository of the release
#
# `sh install.sh --print-version` prints the version that would be installed, and installs nothing.
#
# Everything is in functions, and the last line calls main: a script that arrives in part runs nothing.
set -eu

# A release writes its own repository here.
DEFAULT_REPOSITORY=OWNER/reprise

say() {
  printf '%s\n' "$1"
}

# fail MESSAGE HINT: ends the script with status 1.
fail() {
  printf 'error: %s\n' "$1" >&2
  printf 'hint: %s\n' "$2" >&2
  exit 1
}

has() {
  command -v "$1" >/dev/null 2>&1
}

# Sets `target` to the platform's name in the names of archives.
detect_target() {
  system=$(uname -s)
  machine=$(uname -m)
  case $system in
    Linux) os=linux ;;
    Darwin) os=macos ;;
    MINGW* | MSYS* | CYGWIN* | Windows_NT)
      fail "This script does not install on Windows" "Download reprise-VERSION-windows-x64.zip from $base_url"
      ;;
    *) fail "No binary for $system" "Binaries exist for Linux and macOS on x64 and arm64, and for Windows on x64" ;;
  esac
  case $machine in
    x86_64 | amd64) arch=x64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) fail "No binary for $system on $machine" "Binaries exist for x64 and arm64" ;;
  esac
  # A shell that Rosetta translates reports x86_64 on an arm64 machine.
  if [ "$os-$arch" = macos-x64 ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || true)" = 1 ]; then
    arch=arm64
  fi
  if [ "$os" = linux ] && uses_musl; then
    fail "This system uses musl libc; the binary needs glibc" \
      "Use a system or container image with glibc, such as debian:stable-slim"
  fi
  target=$os-$arch
}

uses_musl() {
  if getconf GNU_LIBC_VERSION >/dev/null 2>&1; then return 1; fi
  case $(ldd --version 2>&1 || true) in
    *musl*) return 0 ;;
  esac
  return 1
}

# Sets `base_url`, the address of the releases.
find_base_url() {
  repository=${REPRISE_REPOSITORY:-$DEFAULT_REPOSITORY}
  base_url=${REPRISE_DOWNLOAD_URL:-https://github.com/$repository/releases}
  base_url=${base_url%/}
  case $base_url in
    https://github.com/OWNER/*)
      fail "This copy of install.sh does not name a repository" \
        "Set REPRISE_REPOSITORY to OWNER/reprise with the real owner, or use install.sh of a release"
      ;;
    https://* | http://127.0.0.1:* | http://localhost:* | http://\[::1\]:*) ;;
    *) fail "Cannot download from $base_url: not an https URL" "Set REPRISE_DOWNLOAD_URL to an https URL" ;;
  esac
}

# download URL FILE: status 0 only for a complete answer with HTTP status 200.
download() {
  if has curl; then
    case $1 in
      https://*) curl --proto '=https' --tlsv1.2 -fsSL --retry 2 --connect-timeout 30 -o "$2" "$1" ;;
      *) curl -fsSL --retry 2 --connect-timeout 30 -o "$2" "$1" ;;
    esac
  elif has wget; then
    wget -q -t 2 -T 30 -O "$2" "$1"
  else
    fail "Neither curl nor wget was found" "Install one of them"
  fi
}

# Prints the SHA-256 of a file as 64 hex digits.
sha256_of() {
  if has sha256sum; then
    sha256sum <"$1" | cut -c 1-64
  elif has shasum; then
    shasum -a 256 <"$1" | cut -c 1-64
  elif has openssl; then
    openssl dgst -sha256 -r <"$1" | cut -c 1-64
  else
    fail "No program for SHA-256 was found, so the download cannot be verified" \
      "Install sha256sum, shasum or openssl"
  fi
}

# Sets `sums_url` for REPRISE_VERSION, or for the latest release.
find_sums_url() {
  version=${REPRISE_VERSION:-latest}
  version=${version#v}
  case $version in
    latest) sums_url=$base_url/latest/download/SHA256SUMS ;;
    *[!0-9A-Za-z.+-]* | [!0-9]* | '')
      fail "REPRISE_VERSION is \"$version\", which is not a version" "Write it as 0.1.0, or leave it unset"
      ;;
    *) sums_url=$base_url/download/v$version/SHA256SUMS ;;
  esac
}

# Reads `archive`, `expected` and `version` from the line of SHA256SUMS for this platform.
read_sums() {
  line=$(grep -E "^[0-9a-f]{64} [ *]reprise-[0-9][0-9A-Za-z.+-]*-$target\\.tar\\.gz\$" "$1" || true)
  case $line in
    '' | *"
"*) fail "SHA256SUMS of $sums_url has no checksum for $target" "Look at the files of the release: $base_url" ;;
  esac
  expected=$(printf '%s' "$line" | cut -c 1-64)
  archive=$(printf '%s' "$line" | cut -c 67-)
  found=${archive#reprise-}
  found=${found%"-$target.tar.gz"}
  if [ "$version" != latest ] && [ "$version" != "$found" ]; then
    fail "SHA256SUMS of $sums_url is about version $found, not $version" "Check REPRISE_VERSION"
  fi
  version=$found
}

# Creates `work`, a temporary folder in the folder `$1`, so that the last step is a rename. It is removed at the end.
make_work_folder() {
  work=
  trap 'if [ -n "$work" ]; then rm -rf "$work"; fi' EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  mkdir -p "$1" 2>/dev/null || fail "Cannot create the folder $1" "Set REPRISE_INSTALL_DIR to a folder that you can write"
  work=$(mktemp -d "$1/.reprise.XXXXXX" 2>/dev/null) ||
    fail "Cannot write to the folder $1" "Set REPRISE_INSTALL_DIR to a folder that you can write"
}

print_path_hint() {
  case :$PATH: in
    *:"$1":*) ;;
    *)
      say "$1 is not in PATH. Add this line to the startup file of your shell:"
      say "  export PATH=\"$1:\$PATH\""
      return
      ;;
  esac
  first=$(command -v reprise || true)
  if [ -n "$first" ] && [ "$first" != "$1/reprise" ]; then
    say "Another reprise comes first in PATH: $first"
  fi
}

print_version() {
  make_work_folder "${TMPDIR:-/tmp}"
  download "$sums_url" "$work/SHA256SUMS" || fail "Cannot download $sums_url" "Check the version and the network"
  read_sums "$work/SHA256SUMS"
  say "$version"
}

install_binary() {
  directory=${REPRISE_INSTALL_DIR:-${HOME:?HOME is not set}/.local/bin}
  directory=${directory%/}
  case $directory in
    /*) ;;
    *) directory=$PWD/$directory ;;
  esac
  if [ -d "$directory/reprise" ]; then
    fail "$directory/reprise is a folder" "Remove it, or set REPRISE_INSTALL_DIR to another folder"
  fi
  make_work_folder "$directory"
  download "$sums_url" "$work/SHA256SUMS" || fail "Cannot download $sums_url" "Check the version and the network"
  read_sums "$work/SHA256SUMS"
  url=$base_url/download/v$version/$archive
  say "Downloading $url"
  download "$url" "$work/$archive" || fail "Cannot download $url" "Check the network, and run the script again"
  actual=$(sha256_of "$work/$archive")
  if [ "$actual" != "$expected" ]; then
    fail "The checksum of $archive is $actual; SHA256SUMS says $expected" \
      "Nothing was installed. Run the script again; if the checksum differs again, do not use the file"
  fi
  tar -xzf "$work/$archive" -C "$work" -o || fail "Cannot unpack $archive" "Check that tar and gzip are installed"
  program=$work/reprise-$version-$target/reprise
  chmod 755 "$program"
  said=$("$program" --version 2>&1) ||
    fail "The downloaded reprise does not start on this machine: $said" \
      "Nothing was installed. The binary needs glibc 2.27 or later on Linux, and a folder whose programs may run"
  mv -f "$program" "$directory/reprise"
  say "Installed reprise $version: $directory/reprise"
  print_path_hint "$directory"
}

main() {
  umask 022
  find_base_url
  detect_target
  find_sums_url
  case ${1-} in
    '') install_binary ;;
    --print-version) print_version ;;
    *) fail "Unknown argument: $1" "The script reads its options from the environment, see its first lines" ;;
  esac
}

main "$@"
