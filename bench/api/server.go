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
	"path/filepath"
	"strings"
	"time"

	"carillon/test/harness"
)

// server is the measured standalone.
type server struct {
	*harness.Process
	dir            string
	address, token string
}

// start starts it with its own directory, and without a limit of requests.
func start(ctx context.Context, program string) (*server, error) {
	dir, err := os.MkdirTemp("", "carillon-api-*")
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir}
	if s.address, err = harness.FreeAddress(); err != nil {
		return nil, err
	}
	if s.Process, err = harness.Start(harness.Command{
		Name: "standalone",
		Path: program,
		Log:  filepath.Join(dir, "log"),
		Args: []string{"--data-dir", filepath.Join(dir, "data"), "--listen", s.address},
		Env:  []string{"CARILLON_API_RATE=0", "CARILLON_LOG_LEVEL=warn"},
	}); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	var missing error
	if err := harness.Until(ctx, 30*time.Second, "the standalone is ready", func() bool {
		missing = s.ready()
		return missing == nil
	}); err != nil {
		return nil, errors.Join(err, missing, s.end(os.Stderr, true))
	}
	return s, nil
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
	s.Stop()
	if failed {
		fmt.Fprintf(stderr, "%s\n", s.Tail())
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
