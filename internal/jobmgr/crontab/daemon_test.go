package crontab

import "testing"

func TestLeavesProcess(t *testing.T) {
	for _, command := range []string{"server &", "nohup server >/dev/null 2>&1 &", "setsid -f server",
		"cd /srv && setsid --wait --fork server", "start-stop-daemon --background --start --exec /srv/server",
		"start-stop-daemon -S -b -x /srv/server", "screen -dmS name server", "tmux new-session -s name -d server",
		"daemonize /srv/server"} {
		if !leavesProcess(command) {
			t.Errorf("%q is not noticed", command)
		}
	}
	for _, command := range []string{"server", "a && b", "a & wait", "echo 'x &'", `echo "setsid -f x"`, "nohup server",
		"setsid server", "start-stop-daemon --stop --exec /srv/server", "cmd >out 2>&1", "screenshot -d x", "a &&"} {
		if leavesProcess(command) {
			t.Errorf("%q is noticed", command)
		}
	}
}

func TestCutByPercent(t *testing.T) {
	for _, raw := range []string{"tar czf x-$(date +%F).tgz /home", "echo `date +%F`", `echo "50% done"`, "date +%F",
		"date -u +%Y%m%d >x", "date '+%F'", "printf '%s\\n' x"} {
		command, _ := splitPercent(raw)
		if !cutByPercent(command) {
			t.Errorf("%q is not noticed", raw)
		}
	}
	for _, raw := range []string{"mail -s Hello team%Good morning", "cat%a", `echo "it's"%x`, "(cat)%x"} {
		command, _ := splitPercent(raw)
		if cutByPercent(command) {
			t.Errorf("%q is noticed", raw)
		}
	}
}
