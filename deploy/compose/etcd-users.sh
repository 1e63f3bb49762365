#!/bin/sh
# Gives each service its user in etcd and switches etcd's authentication on. Who a client is,
# its certificate says; there are no passwords. Run by the service "etcd-users" each time; its
# arguments are the names of the workers.
set -eu
: "${KEYS:=/run/carillon}"
users=$(dirname "$0")/../etcd-users.sh

etcdctl user get etcd >/dev/null 2>&1 || etcdctl user add etcd --no-password # for its health check; it may do nothing
"$users" masters
for name in "$@"; do "$users" worker "$name" "$(cat "$KEYS/$name.id")"; done
"$users" enable
