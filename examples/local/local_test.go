package main

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
)

// The program runs its jobs with nothing but a folder.
func TestRun(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	dir := t.TempDir()
	printed, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, dir, "127.0.0.1:0", out)
		_ = out.CloseWithError(err)
		ended <- err
	}()
	lines := bufio.NewScanner(printed)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "console: http://127.0.0.1:") {
		t.Fatal(lines.Text(), lines.Err())
	}
	if !lines.Scan() || lines.Text() != "reported" {
		t.Fatal(lines.Text(), lines.Err())
	}
	go func() { _, _ = io.Copy(io.Discard, printed) }()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
