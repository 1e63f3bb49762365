package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"carillon/internal/common"
	"carillon/internal/executor"
	"carillon/internal/executor/httprun"
	"carillon/internal/executor/httprun/request"
)

// bench is one run of the program.
type bench struct {
	dir        string
	runs, hung int
	url        string // of the server
	server     *exec.Cmd
	input      io.Closer // the server ends when it is closed
	client     *httprun.Client
	executor   *executor.Executor
}

// through runs requests in the executor, as a worker does.
type through struct{ client *httprun.Client }

func (r through) Run(ctx context.Context, c executor.Call, print func(common.Stream, []byte)) executor.Result {
	return executor.Result(r.client.Run(ctx, httprun.Task{
		With:    c.Job.With,
		Values:  request.Values{Named: c.Values, Secrets: c.Secrets, Private: c.Job.NamesSecret},
		Outputs: c.Job.Outputs,
		Key:     c.Key,
		Fence:   c.Fence,
	}, print))
}

func (through) Masks(secret []byte) [][]byte { return request.Forms(secret) }

// plugIn is a program that describes itself as the type bench, and reads its input.
const plugIn = `#!/bin/sh
case $1 in
describe) echo '{"protocol": 1, "name": "bench", "version": "1", "with": {"type": "object"}}' ;;
run) cat >/dev/null ;;
*) exit 64 ;;
esac
`

// open starts the server and the executor.
func (b *bench) open(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	b.server = exec.CommandContext(ctx, self, serveVerb)
	b.server.Stderr = os.Stderr
	input, err := b.server.StdinPipe()
	if err != nil {
		return err
	}
	output, err := b.server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := b.server.Start(); err != nil {
		return err
	}
	b.input = input
	address, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		return fmt.Errorf("the server does not listen: %w", err)
	}
	b.url = "http://" + strings.TrimSpace(address)
	types := filepath.Join(b.dir, "types")
	if err := os.Mkdir(types, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(b.program(), []byte(plugIn), 0o700); err != nil {
		return err
	}
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	b.client = httprun.New(httprun.Config{Allow: loopback, Version: "bench"})
	b.executor, err = executor.New(executor.Config{
		BaseDir: filepath.Join(b.dir, "runs"),
		HTTP:    through{b.client},
		PlugIns: executor.PlugIns{Dir: types, Trusted: uint32(os.Getuid())},
	})
	return err
}

// program is the file of the plug-in.
func (b *bench) program() string { return filepath.Join(b.dir, "types", "carillon-type-bench") }

func (b *bench) close() {
	if b.executor != nil {
		_ = b.executor.Close()
	}
	b.client.Close()
	_ = b.input.Close()
	_ = b.server.Wait()
}

// silent is an output that is not kept.
type silent struct{}

func (silent) Chunk(common.Chunk) {}

// once executes a run of a job, which must succeed.
func (b *bench) once(ctx context.Context, job *common.Job) error {
	run := b.executor.Run(ctx, taskOf(job), silent{})
	if run.Status != common.StatusSucceeded {
		return fmt.Errorf("a run of %s: %s %+v", job.Name, run.Status, run.Reason)
	}
	return nil
}

func taskOf(job *common.Job) executor.Task {
	uid, at := common.NewID(), time.Now().UTC()
	fire := common.PlannedFire(uid, at)
	return executor.Task{
		Job: common.StoredJob{Job: *job, UID: uid},
		Record: common.Record{
			Run:       common.RunID(fire, 1),
			Fire:      fire,
			Job:       job.Name,
			JobUID:    uid,
			Attempt:   1,
			PlannedAt: at,
			Policy:    job.Terms().Policy,
		},
		Fence: 1,
	}
}

func (b *bench) request(path string) *common.Job {
	return &common.Job{Name: "request", Type: common.TypeHTTP, With: common.With{"url": b.url + path}}
}
