#!/bin/sh
# Renews the zone data from the Go toolchain: its archive, and the version of the IANA database that it was made from.
set -eu
cd "$(dirname "$0")/../internal/common/zoneinfo"
from=$(go env GOROOT)/lib/time
cp "$from/zoneinfo.zip" zoneinfo.zip
sed -n 's/^CODE=//p' "$from/update.bash" > version.txt
echo "zone data: $(cat version.txt)"
