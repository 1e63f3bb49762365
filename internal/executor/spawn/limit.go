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

// DescriptorLimit returns the limit of the number of descriptors that this process was started with. The Go runtime
// raises the limit of the process, remembers the old one for [syscall.ForkExec] only, and so a shell has to report it.
func DescriptorLimit() (*unix.Rlimit, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "/bin/sh", "-c", "ulimit -Sn").Output()
	if err != nil {
		return nil, fmt.Errorf("find the limit of descriptors: %w", err)
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return nil, fmt.Errorf("find the limit of descriptors: %w", err)
	}
	switch text := strings.TrimSpace(string(out)); text {
	case "unlimited":
		limit.Cur = unix.RLIM_INFINITY
	default:
		if limit.Cur, err = strconv.ParseUint(text, 10, 64); err != nil {
			return nil, fmt.Errorf("find the limit of descriptors: %w", err)
		}
	}
	return &limit, nil
}
