package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"carillon/internal/executor/proctree"
)

// server is the measured standalone.
type server struct {
	cmd            *exec.Cmd
	dir, log       string
	address, token string
	done           chan struct{} // closed when it has ended
}

// start starts it with its own directory, and without a limit of requests.
func start(ctx context.Context, program string) (*server, error) {
	dir, err := os.MkdirTemp("", "carillon-api-*")
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, log: filepath.Join(dir, "log"), done: make(chan struct{})}
	if s.address, err = freeAddress(); err != nil {
		return nil, err
	}
	log, err := os.Create(s.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s.cmd = exec.Command(program, "--data-dir", filepath.Join(dir, "data"), "--listen", s.address)
	s.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "CARILLON_API_RATE=0", "CARILLON_LOG_LEVEL=warn"}
	s.cmd.Stdout, s.cmd.Stderr = log, log
	// A terminal's ^C is for the bench, which then ends its processes.
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.cmd.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	go func() { defer close(s.done); _ = s.cmd.Wait() }() // the log shows how it ended
	for limit := time.Now().Add(30 * time.Second); ; {
		if err := s.ready(); err == nil {
			return s, nil
		} else if time.Now().After(limit) || ctx.Err() != nil {
			return nil, errors.Join(fmt.Errorf("the standalone does not come up: %w", err), s.end(os.Stderr, true))
		}
		wait(ctx, 50*time.Millisecond)
	}
}

func (s *server) ready() error {
	token, err := os.ReadFile(filepath.Join(s.dir, "data", "admin.token"))
	if err != nil {
		return err
	}
	s.token = strings.TrimSpace(string(token))
	c, err := s.dial()
	if err != nil {
		return err
	}
	defer c.close()
	if _, err = c.do(http.StatusOK, http.MethodGet, "/readyz", nil); err == nil {
		_, err = c.do(http.StatusOK, http.MethodGet, "/api/v1/auth/me", nil) // the token is written before it is valid
	}
	return err
}

// end stops it and deletes its directory, after printing the end of its log if a row failed.
func (s *server) end(stderr io.Writer, failed bool) error {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-s.done:
	case <-time.After(20 * time.Second):
		_ = s.cmd.Process.Kill()
		<-s.done
	}
	if said, err := os.ReadFile(s.log); err == nil && failed {
		fmt.Fprintf(stderr, "%s\n", said[max(0, len(said)-2000):])
	}
	return os.RemoveAll(s.dir)
}

// conn is one connection: a client that uses less CPU than net/http's, since it shares the cores with the
// server.
type conn struct {
	net.Conn
	server *server
	in     *bufio.Reader
	out    bytes.Buffer
}

func (s *server) dial() (*conn, error) {
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, server: s, in: bufio.NewReaderSize(c, 64<<10)}, nil
}

func (c *conn) close() { _ = c.Close() }

// do sends a request that must be answered with the wanted status, and returns the body of the response.
func (c *conn) do(want int, method, path string, body []byte) ([]byte, error) {
	c.out.Reset()
	fmt.Fprintf(&c.out, "%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n", method, path, c.server.address,
		c.server.token)
	if body != nil {
		fmt.Fprintf(&c.out, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	c.out.WriteString("\r\n")
	c.out.Write(body)
	if err := c.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		return nil, err
	}
	if _, err := c.Write(c.out.Bytes()); err != nil {
		return nil, err
	}
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != want {
		return nil, fmt.Errorf("%s %s: %d: %.500s", method, path, resp.StatusCode, answer)
	}
	return answer, nil
}

// usage is the resource usage of one or more processes.
type usage struct {
	cpu    time.Duration
	memory int64 // bytes
}

// usage returns that of the processes of the standalone.
func (s *server) usage() (total usage) {
	pids := []int{s.cmd.Process.Pid}
	for _, below := range proctree.Below(pids[0]) {
		pids = append(pids, below.PID)
	}
	for _, pid := range pids {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // absent if the process has ended
		for text := range strings.Lines(string(status)) {
			if name, value, _ := strings.Cut(text, ":"); name == "VmRSS" {
				kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
				total.memory += kb << 10
			}
		}
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); len(fields) > 12 {
			for _, f := range fields[11:13] { // utime, stime; USER_HZ is 100 on Linux
				ticks, _ := strconv.Atoi(f)
				total.cpu += time.Duration(ticks) * 10 * time.Millisecond
			}
		}
	}
	return total
}

// freeAddress returns an unused address on loopback.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
