package executor

import (
	"errors"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// lazyFor is how long a command may run before its outputs are read. Most commands end earlier and write less than a
// pipe holds, so that their outputs are read at once at their end, without a goroutine for each.
const lazyFor = 10 * time.Millisecond

// outputs are our ends of a command's stdout and stderr. Until open is called they are plain descriptors.
type outputs struct {
	mu    sync.Mutex
	fds   [2]int      // guarded by mu; -1: closed
	files [2]*os.File // guarded by mu; nil before open
	over  bool        // guarded by mu: expire was called
}

// open makes the outputs files, on which a reader can wait. It returns nils if they are closed.
func (o *outputs) open() [2]*os.File {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, fd := range o.fds {
		if fd < 0 {
			continue
		}
		o.files[i] = os.NewFile(uintptr(fd), "output")
		if o.over {
			_ = o.files[i].SetReadDeadline(time.Now())
		}
	}
	return o.files
}

// expire ends the reading of what other processes might still write.
func (o *outputs) expire() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
	for _, f := range o.files {
		if f != nil {
			_ = f.SetReadDeadline(time.Now()) // has no effect on outputs that ended
		}
	}
}

func (o *outputs) close() (err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, fd := range o.fds {
		switch {
		case o.files[i] != nil:
			err = errors.Join(err, o.files[i].Close())
		case fd >= 0:
			err = errors.Join(err, unix.Close(fd))
		}
		o.fds[i] = -1
	}
	return err
}

// isOf reports whether a file, as named in /proc, is one of the outputs.
func (o *outputs) isOf(file string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, fd := range o.fds {
		var stat unix.Stat_t
		if fd >= 0 && unix.Fstat(fd, &stat) == nil && file == "pipe:["+strconv.FormatUint(stat.Ino, 10)+"]" {
			return true
		}
	}
	return false
}
