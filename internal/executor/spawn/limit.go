package spawn

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// usual is the limit that most systems give a process.
const usual = 1024

// DescriptorLimit returns the limit of the number of descriptors that this process was started with. The Go runtime
// raises the limit of the process and remembers the old one for itself, so a shell has to report it. If there is none,
// the limit that is returned with the error is the usual one.
func DescriptorLimit() (*unix.Rlimit, error) {
	limit := &unix.Rlimit{Cur: usual, Max: usual}
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, limit); err != nil {
		return limit, fmt.Errorf("find the limit of descriptors: %w", err)
	}
	limit.Cur = min(limit.Max, usual)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "/bin/sh", "-c", "ulimit -Sn").Output()
	if err != nil {
		return limit, fmt.Errorf("find the limit of descriptors: %w", err)
	}
	text, told := strings.TrimSpace(string(out)), uint64(unix.RLIM_INFINITY)
	if text != "unlimited" {
		if told, err = strconv.ParseUint(text, 10, 64); err != nil {
			return limit, fmt.Errorf("find the limit of descriptors: %w", err)
		}
	}
	limit.Cur = told
	return limit, nil
}
