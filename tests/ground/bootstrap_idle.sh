#!/usr/bin/env bash
# bootstrap_idle.sh SCRIPT: where everything is installed, bootstrap calls neither apt-get nor sudo and takes under 2 seconds.
set -euo pipefail
bootstrap=$1
command -v dpkg-query >/dev/null || exit 77

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
for tool in apt-get apt-cache sudo; do
  printf '#!/bin/sh\necho "%s was called: $*" >&2\nexit 99\n' "$tool" >"$tools/$tool"
  chmod +x "$tools/$tool"
done

start=$(date +%s%N)
output=$(PATH=$tools:$PATH "$bootstrap")
milliseconds=$((($(date +%s%N) - start) / 1000000))
echo "$output ($milliseconds ms)"
[[ $output == "Everything is installed." ]]
[[ $milliseconds -lt 2000 ]]
