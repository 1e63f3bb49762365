package guardian

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// manager is the service manager, if there is one that wants to be told; sd_notify(3).
type manager struct {
	socket string
	every  time.Duration // how often it wants to hear that all is alive; 0: not at all
	told   time.Duration // when it was, by the boot clock
}

// variables are those with which it says so. They are the guardian's alone.
var variables = []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}

func findManager() *manager {
	m := &manager{socket: os.Getenv("NOTIFY_SOCKET")}
	pid := os.Getenv("WATCHDOG_PID")
	if usec, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64); err == nil && usec > 0 && (pid == "" || pid == strconv.Itoa(os.Getpid())) {
		m.every = time.Duration(usec) * time.Microsecond / 2
	}
	return m
}

// tell says it, if there is somebody to hear it. A service manager that does not take it now
// judges by what it hears later.
func (m *manager) tell(state string) {
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

// alive is called at each look at a worker that lives.
func (m *manager) alive(now time.Duration) {
	if m.every != 0 && now-m.told >= m.every-tick {
		m.told = now
		m.tell("WATCHDOG=1")
	}
}

func withoutVariables(environ []string) (left []string) {
	for _, line := range environ {
		name, _, _ := strings.Cut(line, "=")
		if name != variables[0] && name != variables[1] && name != variables[2] && name != variable {
			left = append(left, line)
		}
	}
	return left
}
