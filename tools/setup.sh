#!/usr/bin/env bash
# Installs what tests need besides Go and Node, on Debian and as root; elsewhere it names what is missing.
# Usage: tools/setup.sh compiler|browser|network …
set -euo pipefail

missing=()
# lack notes a package unless one of the commands is there.
lack() {
	local package=$1 command
	shift
	for command; do
		if command -v "$command" >/dev/null; then return; fi
	done
	missing+=("$package")
}

for part; do
	case $part in
	compiler) # go test -race and small C programs need one
		lack make make
		lack gcc "$(go env CC | cut -d ' ' -f 1)"
		[ -e /usr/include/stdio.h ] || missing+=(libc6-dev)
		;;
	browser) # the shell of Chromium without its windows takes half the processor time
		[ -n "${CHROMIUM-}" ] && [ -x "$CHROMIUM" ] ||
			lack chromium-headless-shell chromium-headless-shell chromium chromium-browser google-chrome
		[ -n "$(find /usr/share/fonts /usr/local/share/fonts "${HOME-/}/.fonts" -iname '*cjk*' -print -quit 2>/dev/null)" ] ||
			missing+=(fonts-noto-cjk)
		;;
	network)
		lack iproute2 ip
		lack procps ps
		;;
	*)
		echo "setup: unknown part $part" >&2
		exit 2
		;;
	esac
done
[ ${#missing[@]} -gt 0 ] || exit 0
if [ "$(id -u)" = 0 ] && [ -e /etc/debian_version ]; then
	echo "setup: install ${missing[*]}"
	export DEBIAN_FRONTEND=noninteractive
	wait='-o DPkg::Lock::Timeout=300'
	if apt-get $wait update -qq && apt-get $wait install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; then
		exit 0
	fi
fi
echo "setup: missing, by the names of Debian's packages: ${missing[*]}; install them, or set CHROMIUM=/path/to/chromium" >&2
exit 1
