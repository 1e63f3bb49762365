#!/usr/bin/env bash
# Boots this machine's systemd as PID 1 in a container over a copy-on-write view of /, installs the units of deploy/ in
# it, and runs inside.sh there. Needs root, systemd-nspawn (Debian: systemd-container) and the programs in bin/.
# Prints what inside.sh prints, and exits with its code. Takes about two minutes; everything ends with it.
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v systemd-nspawn >/dev/null || { echo 'systemd-nspawn is missing: install systemd-container' >&2; exit 1; }
[ -x /lib/systemd/systemd ] || { echo 'systemd is missing' >&2; exit 1; }
work=$(mktemp -d)
cleanup() {
	umount "$work/root" 2>/dev/null || true
	umount "$work/layer" 2>/dev/null || true
	rm -rf "$work"
}
trap cleanup EXIT
mkdir "$work/root" "$work/layer" "$work/out"
mount -t tmpfs tmpfs "$work/layer"
mkdir "$work/layer/upper" "$work/layer/work"
mount -t overlay overlay -o "lowerdir=/,upperdir=$work/layer/upper,workdir=$work/layer/work" "$work/root"
root=$work/root
rm -rf "$root/etc/carillon" "$root/var/lib/carillon-worker"
# A machine of its own: no units of the host but systemd's, no network but loopback.
rm -f "$root"/etc/machine-id "$root"/etc/systemd/system/*.wants/* "$root"/etc/resolv.conf
: >"$root/etc/machine-id"
mkdir -p "$root/opt/carillon" "$root/var/log/journal"
cp -r deploy bin/carillon-master bin/carillon-worker bin/cronctl bin/etcd bin/mongodouble test/systemd/inside.sh "$root/opt/carillon/"
cat >"$root/etc/systemd/system/carillon-test.service" <<'UNIT'
[Unit]
Description=The test
After=multi-user.target
[Service]
Type=oneshot
TimeoutStartSec=300
ExecStart=/bin/bash -c '/bin/bash /opt/carillon/inside.sh >/out/said 2>&1; echo $? >/out/code'
ExecStopPost=/bin/systemctl --no-block poweroff
UNIT
# After multi-user.target, which must not wait for it.
cat >"$root/etc/systemd/system/carillon-test.timer" <<'UNIT'
[Timer]
OnActiveSec=1s
AccuracySec=100ms
UNIT
mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
ln -s ../carillon-test.timer "$root/etc/systemd/system/multi-user.target.wants/"
timeout -k 10 420 systemd-nspawn --quiet --boot --directory="$root" --machine="carillon-test-$$" --private-network --register=no \
	--keep-unit --bind="$work/out:/out" --console=pipe systemd.log_target=journal </dev/null >"$work/boot" 2>&1 || true
cat "$work/out/said" 2>/dev/null || { echo 'the test did not run; the console said:' >&2; tail -50 "$work/boot" >&2; exit 1; }
exit "$(cat "$work/out/code" 2>/dev/null || echo 1)"
