#!/bin/sh
# Creates the users of Carillon's daemons in etcd, with their permissions. It adds what is
# missing and may be repeated at any time. It uses etcdctl's variables for the endpoints and
# credentials (ETCDCTL_ENDPOINTS, ETCDCTL_CACERT, ETCDCTL_CERT, ETCDCTL_KEY, ETCDCTL_USER).
#
#   etcd-users.sh masters          carillon-master, the user of all masters
#   etcd-users.sh worker NAME ID   carillon-NAME, the user of one worker; "carillon-worker id" prints its ID
#   etcd-users.sh app NAME ID      carillon-NAME, the user of one process of a program with functions; carillon.ID of
#                                  the library returns its ID
#   etcd-users.sh lock NAME PREFIX carillon-NAME, the user of a program that uses the named locks that begin with PREFIX
#   etcd-users.sh forget NAME      delete such a user and its permissions
#   etcd-users.sh enable           create root, and enable authentication
#
# The common name of a client's certificate is its user. Or it logs in with a password: with
# PASSWORDS=FOLDER one is created for each new user, in FOLDER/USER.password.
set -eu
umask 077

usage() {
	echo "usage: $0 masters | worker NAME ID | app NAME ID | lock NAME PREFIX | forget NAME | enable" >&2
	exit 2
}

# quiet COMMAND...: print only errors.
quiet() { out=$("$@" 2>&1) || { echo "etcd-users: $*: $out" >&2; exit 1; }; }

user() {
	if etcdctl user get "$1" >/dev/null 2>&1; then return; fi
	if [ -z "${PASSWORDS:-}" ]; then
		quiet etcdctl user add "$1" --no-password
		return
	fi
	if [ ! -s "$PASSWORDS/$1.password" ]; then
		head -c 24 /dev/urandom | od -An -v -tx1 | tr -d ' \n' >"$PASSWORDS/$1.new"
		mv "$PASSWORDS/$1.new" "$PASSWORDS/$1.password"
	fi
	quiet etcdctl user add "$1" --interactive=false <"$PASSWORDS/$1.password"
}
role() { etcdctl role get "$1" >/dev/null 2>&1 || quiet etcdctl role add "$1"; }
prefix() { quiet etcdctl role grant-permission "$1" --prefix=true "$2" "$3"; }

# Names of users and roles; that of a worker is "carillon-" and its name.
name() {
	case $1 in
	'' | master | worker | app | *[!a-z0-9._-]*) echo "etcd-users: a NAME is of a-z, 0-9, '.', '_' and '-', and not master, worker or app" >&2 && exit 2 ;;
	esac
}

# What all workers may do. They decide together who runs what, and so they share what that is
# decided by; what is run, and for whom, they may read only.
shared() {
	role "$1"
	for p in jobs flows workers settings/workers masters; do prefix "$1" read "/cron/$p/"; done
	quiet etcdctl role grant-permission "$1" read /cron/epoch
	prefix "$1" read /cron/windows/
	quiet etcdctl role grant-permission "$1" read /cron/pool/ /cron/pools0 # pools and their slots, in one watch
	for p in pool cursor lock runs outbox triggers killer after succeeded moves flowruns flownodes flowwaits; do prefix "$1" readwrite "/cron/$p/"; done
}

case ${1:-} in
masters)
	[ $# = 1 ] || usage
	role carillon-master
	prefix carillon-master readwrite /cron/
	user carillon-master
	quiet etcdctl user grant-role carillon-master carillon-master
	;;
worker | app)
	[ $# = 3 ] || usage
	name "$2"
	case $3 in
	????????????????) ;;
	*) echo "etcd-users: an ID has 16 characters; carillon-worker id prints it, or carillon.ID returns it" >&2 && exit 2 ;;
	esac
	case $3 in
	*[!a-z2-7]*) echo "etcd-users: an ID is of a-z and 2-7; carillon-worker id prints it, or carillon.ID returns it" >&2 && exit 2 ;;
	esac
	shared "carillon-$1"
	if [ "$1" = worker ]; then # a program has no plug-ins, and gets no secrets
		for p in types secrets; do prefix carillon-worker read "/cron/$p/"; done
	fi
	# What this one may: be itself.
	role "carillon-$2"
	quiet etcdctl role grant-permission "carillon-$2" readwrite "/cron/workers/$3"
	if [ "$1" = worker ]; then prefix "carillon-$2" readwrite "/cron/types/$3/"; fi
	user "carillon-$2"
	quiet etcdctl user grant-role "carillon-$2" "carillon-$1"
	quiet etcdctl user grant-role "carillon-$2" "carillon-$2"
	;;
lock)
	[ $# = 3 ] || usage
	name "$2"
	case $3 in
	'' | *[!a-z0-9._-]*) echo "etcd-users: PREFIX is the beginning of names of locks: a-z, 0-9, '.', '_' and '-'" >&2 && exit 2 ;;
	esac
	role "carillon-$2"
	prefix "carillon-$2" readwrite "/cron/locks/$3"
	user "carillon-$2"
	quiet etcdctl user grant-role "carillon-$2" "carillon-$2"
	;;
forget)
	[ $# = 2 ] || usage
	name "$2"
	if etcdctl user get "carillon-$2" >/dev/null 2>&1; then quiet etcdctl user delete "carillon-$2"; fi
	if etcdctl role get "carillon-$2" >/dev/null 2>&1; then quiet etcdctl role delete "carillon-$2"; fi
	if [ -n "${PASSWORDS:-}" ]; then rm -f "$PASSWORDS/carillon-$2.password"; fi
	;;
enable)
	[ $# = 1 ] || usage
	user root
	quiet etcdctl user grant-role root root
	quiet etcdctl auth enable
	;;
*) usage ;;
esac
