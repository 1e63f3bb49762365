#!/bin/sh
# Gives each service its user in etcd and what that user may do, and switches etcd's
# authentication on. Who a client is, its certificate says; there are no passwords. Run by
# the service "etcd-users" each time; its arguments are the names of the workers.
set -eu
: "${KEYS:=/run/carillon}"

# quiet COMMAND...: say what went wrong, and only that.
quiet() { out=$("$@" 2>&1) || { echo "$*: $out" >&2; exit 1; }; }

user() {
	etcdctl user get "$1" >/dev/null 2>&1 || quiet etcdctl user add "$1" --no-password
}
role() {
	etcdctl role get "$1" >/dev/null 2>&1 || quiet etcdctl role add "$1"
}
prefix() { quiet etcdctl role grant-permission "$1" --prefix=true "$2" "$3"; }

user root
quiet etcdctl user grant-role root root
user etcd # for its health check; it may do nothing

role carillon-master
prefix carillon-master readwrite /cron/
user carillon-master
quiet etcdctl user grant-role carillon-master carillon-master

role carillon-worker
for p in jobs workers settings/workers masters; do prefix carillon-worker read "/cron/$p/"; done
for p in cursor lock runs outbox triggers killer; do prefix carillon-worker readwrite "/cron/$p/"; done
for name in "$@"; do
	id=$(cat "$KEYS/$name.id")
	role "carillon-$name"
	quiet etcdctl role grant-permission "carillon-$name" readwrite "/cron/workers/$id"
	user "carillon-$name"
	quiet etcdctl user grant-role "carillon-$name" carillon-worker
	quiet etcdctl user grant-role "carillon-$name" "carillon-$name"
done
quiet etcdctl auth enable
