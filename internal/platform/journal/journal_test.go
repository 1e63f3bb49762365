package journal_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"

	"carillon/internal/platform/journal"
)

func TestLinesHaveTheirPriority(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(journal.Handler(&out, func(w io.Writer) slog.Handler {
		return slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelInfo})
	})).With("worker", "north").WithGroup("run")
	log.Debug("not_logged")
	log.Info("started", "id", 1)
	log.Warn("slow")
	log.Error("failed", "text", "a\n<0>forged")
	log.Log(t.Context(), slog.LevelError+4, "worse")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 4 {
		t.Fatalf("%d lines:\n%s", len(lines), &out)
	}
	for i, want := range []struct{ prefix, has string }{
		{"<6>time=", "msg=started worker=north run.id=1"}, {"<4>time=", "msg=slow"},
		{"<3>time=", `run.text="a\n<0>forged"`}, {"<3>time=", "msg=worse"},
	} {
		if !strings.HasPrefix(lines[i], want.prefix) || !strings.Contains(lines[i], want.has) {
			t.Errorf("%s, want %s … %s", lines[i], want.prefix, want.has)
		}
	}
}

func TestAttachedComparesTheFile(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var stat syscall.Stat_t
	if err := syscall.Fstat(int(file.Fd()), &stat); err != nil {
		t.Fatal(err)
	}
	for environ, want := range map[string]bool{
		"":                   false,
		"JOURNAL_STREAM=1:2": false,
		"JOURNAL_STREAM=":    false,
		fmt.Sprintf("JOURNAL_STREAM=%d:%d", stat.Dev, stat.Ino): true,
	} {
		if got := journal.Attached(file, []string{"A=b", environ}); got != want {
			t.Errorf("%q: %t", environ, got)
		}
	}
}
