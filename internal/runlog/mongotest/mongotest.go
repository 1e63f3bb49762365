// Package mongotest starts a server that speaks MongoDB's protocol for tests: the double of test/mongodouble,
// as a separate process that ends with the test.
package mongotest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/url"
	"os"
	"os/exec"
	"testing"
	"time"

	"carillon/test/harness"
)

// patience is how long a double may take to start; it takes a fraction of a second.
const patience = time.Minute

// Server is a double that can be stopped and restarted with its data.
type Server struct {
	URI string

	t       testing.TB
	binary  string
	dir     string
	address string
	process *process // nil while stopped
}

// Start starts a double with an empty data directory on a free loopback port.
func Start(t testing.TB) *Server {
	t.Helper()
	if testing.Short() {
		t.Skip("the double of test/mongodouble is slow")
	}
	return start(t, "mongodouble")
}

// StartFast starts the server of bench/mongofast instead, for measurements.
func StartFast(t testing.TB) *Server {
	t.Helper()
	return start(t, "mongofast")
}

func start(t testing.TB, name string) *Server {
	t.Helper()
	program, err := harness.Program(name)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, binary: program, dir: t.TempDir(), address: "127.0.0.1:0"}
	t.Cleanup(s.Stop)
	s.Start()
	return s
}

// Start restarts a stopped server at the same address.
func (s *Server) Start() {
	s.t.Helper()
	if s.process != nil {
		return
	}
	p, uri, err := launch(s.binary, s.address, s.dir)
	if err != nil {
		s.t.Fatalf("start the MongoDB double: %v", err)
	}
	parsed, err := url.Parse(uri)
	if err != nil {
		s.t.Fatalf("the MongoDB double printed an invalid address: %v", err)
	}
	s.process, s.URI, s.address = p, uri, parsed.Host
}

// Stop kills the server.
func (s *Server) Stop() {
	if s.process != nil {
		s.process.end()
		s.process = nil
	}
}

type process struct {
	cmd   *exec.Cmd
	stdin io.Closer // the double ends when it closes, so it cannot outlive the test's process
}

func launch(binary, address, dir string) (*process, string, error) {
	cmd := exec.Command(binary, "--listen", address, "--dir", dir, "--parent")
	var said bytes.Buffer
	cmd.Stderr = &said
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, "", err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	p := &process{cmd: cmd, stdin: stdin}
	impatient := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	impatient.Stop()
	if err != nil {
		p.end()
		return nil, "", errors.Join(err, errors.New(said.String()))
	}
	return p, line[:len(line)-1], nil
}

func (p *process) end() {
	// Killed on purpose: a store must survive a server that dies without notice.
	_ = p.cmd.Process.Signal(os.Kill)
	_ = p.stdin.Close()
	_ = p.cmd.Wait()
}
