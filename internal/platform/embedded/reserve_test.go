package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sys/unix"
)

// smallDisk mounts a file system of its own.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	err := unix.Mount("small", dir, "tmpfs", 0, "size="+size)
	if errors.Is(err, unix.EPERM) {
		t.Skip("needs root to mount a small disk")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill writes to a disk until nothing more fits.
func fill(t *testing.T, dir string) (file string) {
	t.Helper()
	file = filepath.Join(dir, fmt.Sprint("filler-", time.Now().UnixNano()))
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for chunk := bytes.Repeat([]byte("x"), 1<<20); len(chunk) > 0; {
		if _, err := f.Write(chunk); err != nil {
			chunk = chunk[:len(chunk)/2]
		}
	}
	return file
}

// A full disk does not end etcd: it goes on writing into what was allocated before, also through the changes of its log
// files and the notes of what it has applied, and is whole when there is room again.
func TestFullDisk_IsSurvived(t *testing.T) {
	disk := smallDisk(t, "300m")
	dir := filepath.Join(disk, "etcd")
	etcd, err := Start(t.Context(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	whole := newReserve(dir, nil)
	for whole.keep() != nil {
		time.Sleep(10 * time.Millisecond)
	}
	put := func(n int) {
		t.Helper()
		if err := write(t.Context(), etcd, n); err != nil {
			t.Fatal(err)
		}
	}
	slices := func() { // the ballast has given room for the next note
		for {
			var stat unix.Statfs_t
			if err := unix.Statfs(disk, &stat); err != nil {
				t.Fatal(err)
			}
			if stat.Bavail*uint64(stat.Bsize) >= slice {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	put(100)
	filler := fill(t, disk)
	for range 5 { // 20 MiB: more than one file of the log, and two notes
		slices()
		put(500)
	}
	fill(t, disk)
	slices()
	put(500)
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	for whole.keep() != nil {
		time.Sleep(10 * time.Millisecond)
	}
	put(10000) // 80 MiB: through all files that were allocated while the disk was full
	if err := etcd.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Start(t.Context(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := again.Client().Get(t.Context(), "/48")
	if err != nil || len(resp.Kvs) != 1 || len(resp.Kvs[0].Value) != 8<<10 {
		t.Fatalf("after a restart: %v, %v", resp, err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// write commits n transactions of 8 KiB. All go to the log, and one in eight to the database.
func write(ctx context.Context, etcd *Etcd, n int) error {
	value := strings.Repeat("v", 8<<10)
	for i := range n {
		key := fmt.Sprint("/", i%50)
		kept, dropped := clientv3.OpPut(key, value), clientv3.OpGet(key)
		if i%8 > 0 {
			kept, dropped = dropped, kept
		}
		limited, cancel := context.WithTimeout(ctx, time.Minute)
		_, err := etcd.Client().Txn(limited).Then(kept).Else(dropped).Commit()
		cancel()
		select {
		case <-etcd.failures.failed:
			return fmt.Errorf("after %d: %w", i, etcd.failures.err)
		default:
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// An etcd that cannot write fails with what it says, and does not end the process.
func TestFullDisk_BeyondTheReserve_Fails(t *testing.T) {
	disk := smallDisk(t, "150m")
	log := new(bytes.Buffer)
	etcd, err := Start(t.Context(), filepath.Join(disk, "etcd"), slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() { failed <- etcd.Wait(t.Context()) }()
	fill(t, disk)
	err = write(t.Context(), etcd, 20000)
	if !errors.Is(err, ErrUnwritable) || !strings.Contains(err.Error(), "no space left on device") {
		t.Errorf("a write failed with %v", err)
	}
	if err := <-failed; !errors.Is(err, ErrUnwritable) {
		t.Errorf("the server failed with %v", err)
	}
	if err := etcd.Close(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), "etcd_failed") {
		t.Errorf("logged %s", log)
	}
}

// A file that a crash left with contents is not taken over as a new one, and the other becomes the first.
func TestReserve_AfterACrash(t *testing.T) {
	dir := t.TempDir()
	r := newReserve(dir, nil)
	if err := os.MkdirAll(filepath.Dir(r.temp(0)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := r.begin(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.temp(0), []byte("\x00\x00used"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := allocate(r.temp(1), 1<<20, 0); err != nil {
		t.Fatal(err)
	}
	if err := r.begin(); err != nil {
		t.Fatal(err)
	}
	if used, err := hasContents(r.temp(0)); used || err != nil {
		t.Errorf("the first file is used: %t, %v", used, err)
	}
	if info, err := os.Stat(r.temp(0)); err != nil || info.Size() != 1<<20 {
		t.Errorf("the first file: %v, %v", info, err)
	}
	if _, err := os.Stat(r.temp(1)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the second file: %v", err)
	}
}
