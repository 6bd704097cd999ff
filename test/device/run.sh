#!/usr/bin/env bash
# What pack.mjs packed, on a machine with a GPU: the device tests, small ones under compute-sanitizer, and a proof
# from JSON-RPC through the device host. `run.sh [PART...]`: tests, sanitizer, service; default all. Ends with a
# plain line.
set -uo pipefail
cd "$(dirname "$0")/../.."
node=$PWD/node
failed=0
part() {
  local name=$1 start=$SECONDS
  shift
  printf '\n== %s\n' "$name"
  "$@"
  local status=$?
  printf '== %s: exit %d after %d s\n' "$name" "$status" $((SECONDS - start))
  [ "$status" -eq 0 ] || failed=$((failed + 1))
}

tests() { timeout 240 "$node" dist/tests.js; }

sanitizer() {
  local status=0 tool
  for tool in memcheck initcheck racecheck; do
    echo "-- $tool"
    timeout 60 compute-sanitizer --tool "$tool" --error-exitcode 9 --print-limit 5 \
      "$node" dist/tests.js "bls12-381 bellman: 7 constraints" 2>&1 | tail -n 12
    [ "${PIPESTATUS[0]}" -eq 0 ] || status=1
  done
  return $status
}

service() { timeout 240 "$node" test/device/service.mjs; }

for name in ${@:-tests service sanitizer}; do part "$name" "$name"; done
printf '\n%s\n' "$([ $failed -eq 0 ] && echo 'device: all parts passed' || echo "device: $failed parts failed")"
exit $failed
