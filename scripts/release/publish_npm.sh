#!/usr/bin/env bash
# Publishes the tarballs in a folder to npm with provenance: the packages of the platforms, then the launcher, which
# needs them. A version that is there already is skipped, so a failed run can be repeated.
# Usage: publish_npm.sh FOLDER, with NPM_TOKEN set
set -euo pipefail

folder=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# npm replaces the variable when it reads the file: the token is not on the disk.
registry=$(npm config get registry)
# shellcheck disable=SC2016
printf '%s:_authToken=${NPM_TOKEN}\n' "${registry#*:}" >"$work/npmrc"
export NPM_CONFIG_USERCONFIG=$work/npmrc NPM_TOKEN

# Prints a member of a tarball's package.json.
member() {
  tar -xzOf "$1" package/package.json | jq -r "$2"
}

publish() {
  local package version tag=latest
  package=$(member "$1" .name)
  version=$(member "$1" .version)
  if [ -n "$(npm view "$package@$version" version 2>/dev/null || true)" ]; then
    printf '%s %s is published already\n' "$package" "$version"
    return
  fi
  case $version in *-*) tag=next ;; esac
  npm publish "$1" --provenance --access public --tag "$tag"
  printf 'Published %s %s with the tag %s\n' "$package" "$version" "$tag"
}

launchers=()
for tarball in "$folder"/*.tgz; do
  [ -f "$tarball" ] || { printf 'error: no tarballs in %s\n' "$folder" >&2; exit 1; }
  if [ "$(member "$tarball" .private)" = true ]; then
    printf 'error: %s is private\n' "$tarball" >&2
    exit 1
  fi
done
for tarball in "$folder"/*.tgz; do
  if [ "$(member "$tarball" '.optionalDependencies | length')" -gt 0 ]; then
    launchers+=("$tarball")
  else
    publish "$tarball"
  fi
done
if [ "${#launchers[@]}" -ne 1 ]; then
  printf 'error: %s launchers in %s, expected one\n' "${#launchers[@]}" "$folder" >&2
  exit 1
fi
publish "${launchers[0]}"
