#!/usr/bin/env bash
# run_test.sh SCRIPT: script/run is the program, seen from any folder: same output, same exit code, files where the caller is.
set -euo pipefail
run=$1
program=$TILEWRIGHT_BUILD_DIR/src/tilewright/tilewright

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() {
  echo "$1" >&2
  exit 1
}

[[ $("$run" --version 2>/dev/null) == $("$program" --version) ]] || fail "--version differs, or something else wrote to stdout"

showcase=$("$run" 2>/dev/null)
[[ $showcase == *conv2_1* ]] || fail "the showcase does not show its layer: $showcase"

code=0
"$run" no-such-verb >/dev/null 2>&1 || code=$?
expected=0
"$program" no-such-verb >/dev/null 2>&1 || expected=$?
[[ $code == "$expected" && $code != 0 ]] || fail "exit code is $code, the program's is $expected"

# Different contents in caller and checkout would give different answers; only the caller has this file.
cat >here.csv <<'CSV'
K,C,Y,X,R,S,T
8,4,10,10,3,3,1
CSV
ln -s "$run" linked
layer_error=$(./linked evaluate --network here.csv --layer none --hardware zoo:eyeriss --dataflow eyeriss 2>&1 || true)
[[ $layer_error == *"'none'"* ]] || fail "here.csv of the caller was not read: $layer_error"
