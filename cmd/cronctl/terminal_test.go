package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"carillon/internal/common"
)

// openTerminal gives both ends of a new terminal.
func openTerminal(t *testing.T) (screen, program *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	fd := int(screen.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	return screen, program
}

// What a command printed cannot steer the terminal it is read on.
func TestOutput_OnATerminal_IsSanitized(t *testing.T) {
	s := newStage(t)
	evil := "\x1b]0;title\a\x1b[2J\x1b[31mred\x1b[0m \u202eabc\x1b]52;c;QUJD\a end\n"
	s.jobs["evil"] = common.JobState{
		StoredJob: common.StoredJob{Job: common.Job{Name: "evil", Command: evil, Title: "\x1b[2J"}},
		Version:   1,
	}
	id := strings.TrimSpace(s.run("run", "evil").want(t, exitOK).out)

	screen, program := openTerminal(t)
	code := run(t.Context(), []string{"logs", id}, strings.NewReader(""), program, program,
		[]string{"CARILLON_SERVER=" + s.server.URL, "CARILLON_TOKEN=" + goodToken})
	if code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if got, want := readTerminal(t, screen, program), "\x1b[31mred\x1b[0m <U+202E>abc end\r\n\x1b[0m"; got != want {
		t.Errorf("the terminal saw %q, want %q", got, want)
	}
}

// readTerminal returns what was printed on a terminal, and closes it.
func readTerminal(t *testing.T, screen, program *os.File) string {
	t.Helper()
	if _, err := program.WriteString("THE END"); err != nil {
		t.Fatal(err)
	}
	var seen strings.Builder
	buffer := make([]byte, 4096)
	for !strings.Contains(seen.String(), "THE END") {
		n, err := screen.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		seen.Write(buffer[:n])
	}
	_ = program.Close()
	return strings.TrimSuffix(seen.String(), "THE END")
}
