package guardian

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// manager sends notifications to the service manager; sd_notify(3).
type manager struct {
	socket   string        // empty: no service manager requests notifications
	every    time.Duration // watchdog interval, half of the timeout; 0: no watchdog
	notified time.Duration // time of the last watchdog notification, by the boot clock
}

// variables configure notifications (sd_notify(3)). The worker does not inherit them.
var variables = []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}

func findManager() *manager {
	m := &manager{socket: os.Getenv("NOTIFY_SOCKET")}
	pid := os.Getenv("WATCHDOG_PID")
	mine := pid == "" || pid == strconv.Itoa(os.Getpid())
	if usec, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64); err == nil && usec > 0 && mine {
		m.every = time.Duration(usec) * time.Microsecond / 2
	}
	return m
}

// notify sends a state to the service manager, if there is one. It drops the state if sending fails or would block:
// later notifications follow.
func (m *manager) notify(state string) {
	if m.socket == "" {
		return
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer func() { _ = unix.Close(fd) }()
	_ = unix.Sendto(fd, []byte(state), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, &unix.SockaddrUnix{Name: m.socket})
}

// alive notifies the watchdog, if that is due. It is called at each check that finds the worker alive.
func (m *manager) alive(now time.Duration) {
	if m.every != 0 && now-m.notified >= m.every-tick {
		m.notified = now
		m.notify("WATCHDOG=1")
	}
}

// withoutVariables returns an environment without the variables of the service manager and of the guardian.
func withoutVariables(environ []string) (left []string) {
	for _, line := range environ {
		name, _, _ := strings.Cut(line, "=")
		if name != variables[0] && name != variables[1] && name != variables[2] && name != variable {
			left = append(left, line)
		}
	}
	return left
}
