#!/usr/bin/env bash
# Runs inside the container that run.sh boots: installs worker and master as docs/deploy.md says, and holds the units
# to what it promises. Prints one line for each check.
set -uo pipefail
cd /opt/carillon
failed=0
check() {
	local what=$1
	shift
	if "$@" >/tmp/out 2>&1; then echo "ok    $what"; else echo "FAIL  $what"; sed 's/^/      /' /tmp/out | tail -20; failed=1; fi
}
# within SECONDS COMMAND: the command succeeds within that time
within() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do [ $SECONDS -lt $end ] || return 1; sleep 0.2; done
}
status() { systemctl show -p StatusText --value "$1"; }
says() { [[ $(status "$1") == $2 ]] || { status "$1"; return 1; }; }
pid() { systemctl show -p MainPID --value "$1"; }
worker_proper() { pgrep -P "$(pid carillon-worker)" -x carillon-worker | head -1; }

install -m 0755 carillon-master carillon-worker cronctl /usr/bin/
install -m 0644 deploy/carillon.sysusers /usr/lib/sysusers.d/carillon.conf && systemd-sysusers
install -m 0644 deploy/carillon.tmpfiles /usr/lib/tmpfiles.d/carillon.conf && systemd-tmpfiles --create carillon.conf
# Certificates and credentials, as sections 1, 3, 4 and 5 say; only the addresses are others.
export CERTS=/root/carillon-ca && install -d -m 0700 "$CERTS"
check 'certificates are made' bash -c 'cd /opt/carillon && deploy/certificates.sh ca && deploy/certificates.sh server etcd-1 127.0.0.1 &&
	deploy/certificates.sh server tls 127.0.0.1 && deploy/certificates.sh client carillon-worker-1'
install -m 0644 "$CERTS/ca.crt" /etc/carillon/ca.crt
install -m 0600 "$CERTS/carillon-worker-1.crt" /etc/carillon/etcd.crt
install -m 0600 "$CERTS/carillon-worker-1.key" /etc/carillon/etcd.key
install -m 0600 "$CERTS/tls.crt" "$CERTS/tls.key" /etc/carillon/
(umask 077; echo 'mongodb://127.0.0.1:37017/carillon' >/etc/carillon/mongodb.uri; openssl rand -base64 32 >/etc/carillon/secrets.key)
for d in worker master; do
	sed -e 's#https://etcd-1.example.com:2379#https://127.0.0.1:12379#' -e '/etcd-[23].example.com/d' -e 's/^drainTimeout: .*/drainTimeout: 5s/' \
		"deploy/$d.yaml" >"/etc/carillon/$d.yaml"
	install -D -m 0644 "deploy/credentials-$d.conf" "/etc/systemd/system/carillon-$d.service.d/credentials.conf"
done
install -m 0644 deploy/carillon-worker.service deploy/carillon-master.service deploy/carillon-standalone.service /etc/systemd/system/
systemctl daemon-reload
check 'systemd accepts the units' systemd-analyze verify carillon-worker.service carillon-master.service

# etcd is away: the units are ready, and say what they wait for.
check 'the worker is active while etcd is away' timeout 20 systemctl enable --now carillon-worker
check 'the master is active while etcd is away' timeout 20 systemctl enable --now carillon-master
check 'multi-user.target is reached' within 20 systemctl is-active --quiet multi-user.target
check 'no job of systemd waits for them' within 20 bash -c '! systemctl list-jobs --no-legend | grep -q carillon-[mw]'
check 'the worker says what it waits for' within 15 says carillon-worker '*etcd*'

# Both are there.
systemd-run --quiet --unit=etcd /opt/carillon/etcd --name etcd-1 --data-dir /tmp/etcd \
	--listen-client-urls https://127.0.0.1:12379 --advertise-client-urls https://127.0.0.1:12379 \
	--listen-peer-urls https://127.0.0.1:12380 --initial-advertise-peer-urls https://127.0.0.1:12380 \
	--initial-cluster etcd-1=https://127.0.0.1:12380 --initial-cluster-state new --initial-cluster-token carillon \
	--client-cert-auth --trusted-ca-file "$CERTS/ca.crt" --cert-file "$CERTS/etcd-1.crt" --key-file "$CERTS/etcd-1.key" \
	--peer-client-cert-auth --peer-trusted-ca-file "$CERTS/ca.crt" --peer-cert-file "$CERTS/etcd-1.crt" --peer-key-file "$CERTS/etcd-1.key"
systemd-run --quiet --unit=mongodouble /opt/carillon/mongodouble -listen 127.0.0.1:37017 -dir /tmp/mongo
check 'the worker says that it runs' within 60 says carillon-worker 'running * commands'
check 'the master says that it serves' within 60 says carillon-master 'serving on *'
check 'the API answers with its certificate' within 30 curl -fsS --cacert "$CERTS/ca.crt" -o /dev/null https://127.0.0.1:7070/healthz
check 'the worker is ready' within 30 curl -fsS -o /dev/null http://127.0.0.1:7071/readyz

# The watchdog: a worker proper that hangs is started again, and so is a guardian or a master that does.
before=$(pid carillon-worker)
check 'a stopped guardian is started again by the watchdog' bash -c "kill -STOP $before"
check '… within the time of WatchdogSec' within 75 bash -c "now=\$(systemctl show -p MainPID --value carillon-worker); [ \$now != $before ] && [ \$now != 0 ]"
before=$(pid carillon-master)
kill -STOP "$before"
check 'a stopped master is started again by the watchdog' within 75 bash -c "now=\$(systemctl show -p MainPID --value carillon-master); [ \$now != $before ] && [ \$now != 0 ]"
check 'the worker runs again' within 60 says carillon-worker 'running * commands'
before=$(pid carillon-worker)
kill -KILL "$(worker_proper)"
check 'a worker that was killed is started again' within 30 bash -c "now=\$(systemctl show -p MainPID --value carillon-worker); [ \$now != $before ] && [ \$now != 0 ]"
check 'and runs again' within 60 says carillon-worker 'running * commands'

# Priorities in the journal.
check 'the journal has the death of the worker as an error' within 20 bash -c 'journalctl -q -u carillon-worker -p err -o cat | grep -q worker_died'
check '… and what is ordinary, as no error' bash -c 'journalctl -q -u carillon-worker -p info -o cat | grep -q worker_starting'
check 'the journal has no prefix left in the text' bash -c '! journalctl -q -u carillon-worker -u carillon-master -o cat | grep -qE "^<[0-9]>"'
check 'what is info is no warning' bash -c '! journalctl -q -u carillon-worker -u carillon-master -p warning -o cat | grep -q "level=INFO"'

check 'a stop drains and ends with 0' bash -c 'timeout 60 systemctl stop carillon-worker && [ "$(systemctl show -p Result --value carillon-worker)" = success ]'
systemd-analyze security carillon-worker.service carillon-master.service --no-pager 2>/dev/null | grep -E '→|Overall' | sed 's/^/      /'
exit $failed
