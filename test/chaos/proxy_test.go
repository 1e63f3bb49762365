package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo answers each line with itself, and tells what it has heard.
func echo(t *testing.T) (address string, heard <-chan string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	lines, done := make(chan string, 100), make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			in := bufio.NewReader(c)
			for {
				line, err := in.ReadString('\n')
				if err != nil {
					break
				}
				lines <- line
				_, _ = io.WriteString(c, line)
			}
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return l.Addr().String(), lines
}

func behindProxy(t *testing.T) (p *proxy, heard <-chan string) {
	address, heard := echo(t)
	ctx, cancel := context.WithCancel(t.Context())
	p, err := newProxy(ctx, "127.0.0.1", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); proxies{p}.wait() })
	return p, heard
}

func dial(t *testing.T, p *proxy) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", p.address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func say(t *testing.T, c net.Conn, line string) {
	t.Helper()
	if _, err := io.WriteString(c, line); err != nil {
		t.Fatal(err)
	}
}

// hears tells what comes within a moment: nothing is as good an answer as any.
func hears(c net.Conn, within time.Duration) (string, error) {
	_ = c.SetReadDeadline(time.Now().Add(within))
	line, err := bufio.NewReader(c).ReadString('\n')
	return line, err
}

const (
	aMoment = 100 * time.Millisecond
	enough  = 10 * time.Second
)

func TestProxy_Holds(t *testing.T) {
	for name, m := range map[string]manner{"up": {up: true}, "down": {down: true}} {
		t.Run(name, func(t *testing.T) {
			p, heard := behindProxy(t)
			c := dial(t, p)
			say(t, c, "one\n")
			if line, err := hears(c, enough); line != "one\n" {
				t.Fatalf("%q, %v", line, err)
			}
			<-heard
			p.set(m)
			say(t, c, "two\n")
			if line, err := hears(c, aMoment); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatalf("%q, %v came through", line, err)
			}
			if arrived := len(heard) == 1; arrived == m.up {
				t.Errorf("arrived: %v", arrived)
			}
			p.set(manner{})
			if line, err := hears(c, enough); line != "two\n" {
				t.Fatalf("%q, %v", line, err)
			}
		})
	}
}

// The request is executed, and its sender gets no response.
func TestProxy_DropsConnections(t *testing.T) {
	p, heard := behindProxy(t)
	c := dial(t, p)
	p.set(manner{forget: true})
	say(t, c, "one\n")
	if line := <-heard; line != "one\n" {
		t.Fatal(line)
	}
	if line, err := hears(c, aMoment); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("%q, %v came through", line, err)
	}
	p.cut()
	if line, err := hears(c, enough); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("%q, %v on a connection that was cut", line, err)
	}
	p.set(manner{})
	again := dial(t, p)
	say(t, again, "two\n")
	if line, err := hears(again, enough); line != "two\n" {
		t.Fatalf("%q, %v", line, err)
	}
}

func TestProxy_Refuses(t *testing.T) {
	p, _ := behindProxy(t)
	p.set(manner{refuse: true})
	c, err := net.Dial("tcp", p.address())
	if err != nil { // the reset was quicker
		return
	}
	defer c.Close()
	if line, err := hears(c, enough); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("%q, %v", line, err)
	}
}
