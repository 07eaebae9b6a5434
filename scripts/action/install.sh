#!/usr/bin/env bash
# Installs a release into a folder, unless the cache has put it there, and adds the folder to PATH.
# Reads REPRISE_VERSION and REPRISE_INSTALL_DIR.
set -euo pipefail

cached=$("$REPRISE_INSTALL_DIR/reprise" --version 2>/dev/null || true)
if [ "$cached" = "$REPRISE_VERSION" ]; then
  printf 'reprise %s comes from the cache\n' "$cached"
else
  sh "$GITHUB_ACTION_PATH/install.sh"
fi
printf '%s\n' "$REPRISE_INSTALL_DIR" >>"$GITHUB_PATH"
