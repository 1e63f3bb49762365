#!/bin/sh
# Creates a certificate authority and certificates for etcd, masters and workers, with openssl only:
#   certificates.sh ca                        the authority: ca.crt, ca.key (keep ca.key off all other machines)
#   certificates.sh server NAME HOST|IP …     NAME.crt, NAME.key for a server and its peers, under these names
#   certificates.sh client NAME               NAME.crt, NAME.key for a client; etcd takes NAME as its user
# in the folder $CERTS (default: the current one). Existing files are kept. Certificates last $DAYS days (default 825).
set -eu
umask 077
cd "${CERTS:-.}"
days=${DAYS:-825}

usage() {
	sed -n '2,6p' "$0" | sed 's/^# \{0,1\}//' >&2
	exit 2
}

# issue NAME USAGE [ALTERNATIVE NAMES]
issue() {
	[ -e "$1.crt" ] && { echo "$1.crt is there"; return; }
	{
		echo "basicConstraints=critical,CA:FALSE"
		echo "keyUsage=critical,digitalSignature,keyEncipherment"
		echo "extendedKeyUsage=$2"
		[ -z "$3" ] || echo "subjectAltName=$3"
	} >"$1.ext"
	openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$1.key" -out "$1.csr" -subj "/CN=$1" 2>/dev/null
	openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -out "$1.crt" -days "$days" -sha256 -extfile "$1.ext" 2>/dev/null
	rm -f "$1.csr" "$1.ext"
	chmod 0644 "$1.crt"
	echo "$1.crt and $1.key"
}

[ $# -ge 1 ] || usage
what=$1
shift
case $what in
ca)
	[ -e ca.crt ] && { echo 'ca.crt is there'; exit 0; }
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -out ca.crt -days 3650 -sha256 \
		-subj '/CN=Carillon CA' -addext 'basicConstraints=critical,CA:TRUE,pathlen:0' -addext 'keyUsage=critical,keyCertSign,cRLSign' 2>/dev/null
	chmod 0644 ca.crt
	echo 'ca.crt and ca.key'
	;;
server)
	[ $# -ge 2 ] || usage
	name=$1
	shift
	names=
	for host; do
		case $host in
		*[!0-9.]*) case $host in *:*) kind=IP ;; *) kind=DNS ;; esac ;;
		*) kind=IP ;;
		esac
		names=${names:+$names,}$kind:$host
	done
	# Members of etcd are servers to clients, and both to one another.
	issue "$name" serverAuth,clientAuth "$names"
	;;
client)
	[ $# -eq 1 ] || usage
	issue "$1" clientAuth ''
	;;
*) usage ;;
esac
