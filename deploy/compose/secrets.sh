#!/bin/sh
# Makes what the services of compose.yaml prove themselves with, where it is missing: a
# certificate authority of this installation alone, a certificate for each service,
# MongoDB's passwords, and the key of the secrets that jobs use. There is no well-known default. Run as root, without a
# network, by the service "secrets"; its arguments are the names of the workers.
#
#   $SECRETS      the authority's key, the passwords, the key of stored secrets; no other service sees it
#   $KEYS/NAME    what the service NAME may see
#   $DATA/NAME    the data folders of etcd and of the workers
set -eu
umask 077
: "${SECRETS:=/secrets}" "${KEYS:=/keys}" "${DATA:=/data}"
days=3650
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# own FOLDER USER: give a folder to a service's user.
own() {
	if [ "$(id -u)" = 0 ]; then chown -R "$2" "$1"; fi
}

# once FILE COMMAND...: keep what a command prints, unless it is kept already.
once() {
	if [ ! -s "$1" ]; then
		file=$1
		shift
		"$@" >"$file.new"
		mv "$file.new" "$file"
	fi
}

password() { openssl rand -hex 24; }

# The form of a worker's id: 16 characters of base32.
worker_id() { head -c 10 /dev/urandom | base32 | tr 'A-Z' 'a-z'; }

authority() {
	if [ -s "$SECRETS/ca.crt" ]; then return; fi
	cat >"$tmp/ca.cnf" <<-CNF
		[req]
		prompt = no
		distinguished_name = name
		x509_extensions = authority
		[name]
		CN = Carillon, this installation
		[authority]
		basicConstraints = critical, CA:TRUE, pathlen:0
		keyUsage = critical, keyCertSign, cRLSign
	CNF
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days "$days" -config "$tmp/ca.cnf" \
		-keyout "$SECRETS/ca.key" -out "$tmp/ca.crt" 2>"$tmp/log" || { cat "$tmp/log" >&2; exit 1; }
	mv "$tmp/ca.crt" "$SECRETS/ca.crt"
}

# certificate FILE NAME USAGE [ALTERNATIVES]: FILE.crt and FILE.key.
certificate() {
	if [ -s "$1.crt" ]; then return; fi
	cat >"$tmp/leaf.cnf" <<-CNF
		[req]
		prompt = no
		distinguished_name = name
		[name]
		CN = $2
		[leaf]
		basicConstraints = critical, CA:FALSE
		keyUsage = critical, digitalSignature
		extendedKeyUsage = $3
		${4:+subjectAltName = $4}
	CNF
	{
		openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -config "$tmp/leaf.cnf" -keyout "$1.key" -out "$tmp/leaf.csr" &&
			openssl x509 -req -in "$tmp/leaf.csr" -CA "$SECRETS/ca.crt" -CAkey "$SECRETS/ca.key" -set_serial "0x$(openssl rand -hex 16)" \
				-days "$days" -extfile "$tmp/leaf.cnf" -extensions leaf -out "$tmp/leaf.crt"
	} 2>"$tmp/log" || { cat "$tmp/log" >&2; exit 1; }
	mv "$tmp/leaf.crt" "$1.crt"
}

# uri USER: how a user finds MongoDB.
uri() {
	echo "mongodb://$1:$(cat "$SECRETS/$1.password")@mongo:27017/carillon?authSource=carillon&tls=true&tlsCAFile=/run/carillon/ca.crt&w=majority"
}

mkdir -p "$SECRETS"
authority
for user in root carillon-master carillon-worker; do once "$SECRETS/$user.password" password; done
once "$SECRETS/secretsKey" openssl rand -base64 32

for name in etcd etcd-users mongo master "$@"; do
	mkdir -p "$KEYS/$name"
	cp "$SECRETS/ca.crt" "$KEYS/$name/ca.crt"
done

# It shows its certificate to itself as well, in its health check.
certificate "$KEYS/etcd/etcd" etcd serverAuth,clientAuth DNS:etcd,DNS:localhost,IP:127.0.0.1
mkdir -p "$DATA/etcd"
own "$KEYS/etcd" 10002:10002
own "$DATA/etcd" 10002:10002

certificate "$KEYS/etcd-users/etcd" root clientAuth
own "$KEYS/etcd-users" 10001:10001

certificate "$KEYS/mongo/mongo" mongo serverAuth DNS:mongo,DNS:localhost,IP:127.0.0.1
once "$KEYS/mongo/mongo.pem" cat "$KEYS/mongo/mongo.key" "$KEYS/mongo/mongo.crt"
once "$KEYS/mongo/root.password" cat "$SECRETS/root.password"
for user in carillon-master carillon-worker; do once "$KEYS/mongo/$user.password" cat "$SECRETS/$user.password"; done
own "$KEYS/mongo" 999:999

certificate "$KEYS/master/etcd" carillon-master clientAuth
certificate "$KEYS/master/tls" master serverAuth DNS:localhost,DNS:master,IP:127.0.0.1,IP:::1
once "$KEYS/master/mongodb.uri" uri carillon-master
once "$KEYS/master/secretsKey" cat "$SECRETS/secretsKey"
own "$KEYS/master" 10001:10001

# A worker may write its own registration in etcd and no other, so its id is made here,
# where it would else be made at its first start.
for name in "$@"; do
	certificate "$KEYS/$name/etcd" "carillon-$name" clientAuth
	once "$KEYS/$name/mongodb.uri" uri carillon-worker
	once "$KEYS/$name/secretsKey" cat "$SECRETS/secretsKey"
	mkdir -p "$DATA/$name"
	once "$DATA/$name/worker.id" worker_id
	cp "$DATA/$name/worker.id" "$KEYS/etcd-users/$name.id"
	own "$KEYS/$name" 10001:10001
	own "$DATA/$name" 10001:10001
done
own "$KEYS/etcd-users" 10001:10001
