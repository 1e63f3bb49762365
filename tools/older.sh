#!/usr/bin/env bash
# Builds master and worker as they were before workers could let a run go on that they cannot vouch for, and before
# flows had values, clean-up steps, joins, retries and all that followed: from their sources, without these features, and
# the value that asks for the first one. The argument is the folder of the programs.
set -euo pipefail
folder=$(readlink -m "$1")
cd "$(dirname "$0")/.."
source=$PWD/internal/common/features.go
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sed -e 's/\[\.\.\.\]string{FeatureDetach, /[...]string{/' \
	-e 's/if j\.OnLost == LostDetach {/if false {/' \
	-e 's/, string(LostDetach))/)/' \
	-e '/, FeatureValues, /,/}$/{s/, FeatureValues, .*/}/;t;d}' "$source" >"$work/features.go"
changed=$(diff "$source" "$work/features.go" | grep -c '^<' || true)
[ "$changed" = 5 ] || { echo "older: $changed lines of $source are other ones, not 5" >&2; exit 1; }
printf '{"Replace": {"%s": "%s"}}\n' "$source" "$work/features.go" >"$work/overlay.json"
for part in master worker; do
	go build -overlay "$work/overlay.json" -o "$folder/carillon-$part" "./cmd/$part"
done
