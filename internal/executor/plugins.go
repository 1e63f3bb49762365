package executor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"carillon/internal/common"
	"carillon/internal/executor/inside"
	"carillon/internal/executor/runas"
	"carillon/internal/executor/typeschema"
)

const (
	plugInPrefix = "carillon-type-"
	// maxPlugIns bounds the plug-ins of a worker.
	maxPlugIns = 64
	// plugInsEvery is how often the folder of the plug-ins is read.
	plugInsEvery  = 5 * time.Second
	describeLimit = 5 * time.Second
)

// PlugIns configures the plug-ins of a worker.
type PlugIns struct {
	Dir     string   // empty: there are none
	Allow   []string // names of the types that are offered; empty: all
	Trusted uint32   // uid that may own the files and folders, besides root
}

// TypeReport is whether this machine offers a type.
type TypeReport struct {
	Name, File string
	Version    string
	Problem    string // why it is not offered; empty: it is
}

// plugIn is a file of the folder, and how it describes itself.
type plugIn struct {
	name, file string
	seen       stamp
	is         *typeschema.Type // nil: it is not offered
	problem    error
	since      time.Time
}

// broken is the problem of a plug-in that does not describe itself as it must.
type broken struct{ error }

// untrusted is the problem of a file that users other than root may change.
type untrusted struct{ error }

// stamp identifies a state of a file.
type stamp struct {
	changed, status syscall.Timespec
	size            int64
	inode           uint64
	mode, owner     uint32
}

func stampOf(info fs.FileInfo) stamp {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return stamp{}
	}
	return stamp{s.Mtim, s.Ctim, s.Size, s.Ino, s.Mode, s.Uid}
}

// plugIns are the plug-ins of a worker.
type plugIns struct {
	looking sync.Mutex // held while files are examined; locked before mu

	mu    sync.Mutex
	known map[string]*plugIn // by name; guarded by mu
}

// scan examines the files of the folder. A plug-in that has not changed is not described again.
func (x *Executor) scan(ctx context.Context) {
	if x.cfg.PlugIns.Dir == "" {
		return
	}
	entries, err := os.ReadDir(x.cfg.PlugIns.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		x.cfg.Log.Warn("types_not_read", "folder", x.cfg.PlugIns.Dir, "error", err)
	}
	present := map[string]bool{}
	for _, e := range entries {
		name, found := strings.CutPrefix(e.Name(), plugInPrefix)
		if !found || len(present) >= maxPlugIns {
			continue
		}
		present[name] = true
		x.look(ctx, name)
	}
	x.plugIns.mu.Lock()
	defer x.plugIns.mu.Unlock()
	maps.DeleteFunc(x.plugIns.known, func(name string, _ *plugIn) bool { return !present[name] })
}

// watchPlugIns examines the folder periodically.
func (x *Executor) watchPlugIns(ctx context.Context) {
	tick := time.NewTicker(plugInsEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			x.scan(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// look examines the file of a type, and returns its present state.
func (x *Executor) look(ctx context.Context, name string) *plugIn {
	x.plugIns.looking.Lock()
	defer x.plugIns.looking.Unlock()
	p := &plugIn{name: name, file: filepath.Join(x.cfg.PlugIns.Dir, plugInPrefix+name), since: x.cfg.Now().UTC()}
	x.plugIns.mu.Lock()
	before := x.plugIns.known[name]
	x.plugIns.mu.Unlock()
	p.problem = x.examine(p)
	if before != nil && before.seen == p.seen && before.stands(p.problem) {
		return before
	}
	if p.problem == nil {
		if p.is, p.problem = x.describe(ctx, p.file); p.problem == nil && p.is.Name != name {
			p.is, p.problem = nil, broken{fmt.Errorf("it describes the type %q", common.Shorten(p.is.Name))}
		}
	}
	if ctx.Err() != nil {
		return p
	}
	if p.problem != nil {
		x.cfg.Log.Warn("type_not_offered", "file", p.file, "error", p.problem)
	} else {
		x.cfg.Log.Info("type_offered", "type", name, "version", p.is.Version)
	}
	x.plugIns.mu.Lock()
	defer x.plugIns.mu.Unlock()
	x.plugIns.known[name] = p
	return p
}

// stands reports whether what is known of an unchanged file still holds, with the present result of its examination.
func (p *plugIn) stands(problem error) bool {
	if problem != nil {
		return p.problem != nil && p.problem.Error() == problem.Error()
	}
	_, described := errors.AsType[broken](p.problem)
	return p.is != nil || described
}

// examine returns why a file is not a plug-in that this worker may execute.
func (x *Executor) examine(p *plugIn) error {
	cfg := &x.cfg.PlugIns
	info, err := os.Lstat(p.file)
	if err != nil {
		return err
	}
	p.seen = stampOf(info)
	switch {
	case !common.ValidType(p.name):
		return fmt.Errorf("%q is not the name of a type", common.Shorten(p.name))
	case common.ReservedType(p.name):
		return fmt.Errorf("the name %s is reserved", p.name)
	case len(cfg.Allow) > 0 && !slices.Contains(cfg.Allow, p.name):
		return errors.New("it is not in the setting typesAllow")
	case !info.Mode().IsRegular():
		return untrusted{fmt.Errorf("%s is not a regular file", p.file)}
	case info.Mode().Perm()&0o111 == 0:
		return fmt.Errorf("%s is not executable", p.file)
	}
	if err := runas.Trust(p.file, info, cfg.Trusted); err != nil {
		return untrusted{err}
	}
	if err := runas.TrustAbove(p.file, cfg.Trusted); err != nil {
		return untrusted{err}
	}
	return nil
}

// describe executes a plug-in so that it describes itself: with an empty environment, and for a bounded time.
func (x *Executor) describe(ctx context.Context, file string) (*typeschema.Type, error) {
	got, how := x.call(ctx, []string{file, "describe"}, "", typeschema.MaxDocument+1)
	if how.Status != common.StatusSucceeded {
		return nil, broken{fmt.Errorf("describe failed: %s", how.Reason.Text)}
	}
	is, err := typeschema.Parse(got)
	if err != nil {
		return nil, broken{err}
	}
	return is, nil
}

// call executes a program outside of a run, and returns what it has printed, up to a limit, and how it has ended.
func (x *Executor) call(ctx context.Context, args []string, stdin string, limit int) ([]byte, *inside.Outcome) {
	job := common.Job{Name: "call", Args: args, KillGrace: "0s"}
	record := common.Record{Job: job.Name, Run: job.Name + "." + common.NewID(), Policy: job.Terms().Policy}
	t := Task{Job: common.StoredJob{Job: job}, Record: record}
	ctx, cancel := context.WithTimeoutCause(ctx, describeLimit, inside.TimedOut{After: describeLimit})
	defer cancel()
	out := &collected{limit: limit}
	run := x.execute(ctx, &t, out, nil, &spec{path: args[0], args: args, stdin: stdin, private: true})
	if said := strings.TrimSpace(string(out.problem)); run.Reason != nil && said != "" {
		run.Reason.Text += ": " + common.Excerpt(said)
	}
	return out.data, &inside.Outcome{Status: run.Status, Reason: run.Reason}
}

// maxProblem bounds what is kept of the standard error of a command that is called outside of a run.
const maxProblem = 200

// collected is the beginning of the output of a command.
type collected struct {
	limit         int
	data, problem []byte
}

// Chunk keeps a chunk of the output.
func (c *collected) Chunk(chunk common.Chunk) {
	if chunk.Stream == common.Stdout {
		c.data = append(c.data, chunk.Data[:min(len(chunk.Data), c.limit-len(c.data))]...)
	} else if chunk.Stream == common.Stderr {
		c.problem = append(c.problem, chunk.Data[:min(len(chunk.Data), maxProblem-len(c.problem))]...)
	}
}

// offered returns the plug-ins that this worker offers, in the order of their names.
func (x *Executor) offered() (all []*plugIn) {
	x.plugIns.mu.Lock()
	defer x.plugIns.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(x.plugIns.known)) {
		if p := x.plugIns.known[name]; p.is != nil {
			all = append(all, p)
		}
	}
	return all
}

// Types returns the versions of the types of this worker, by name.
func (x *Executor) Types() map[string]string {
	types := map[string]string{common.TypeShell: "1"}
	if x.cfg.HTTP != nil {
		types[common.TypeHTTP] = "1"
	}
	for _, p := range x.offered() {
		types[p.name] = p.is.Version
	}
	return types
}

// has reports whether this worker has a type.
func (x *Executor) has(name string) bool {
	switch name {
	case common.TypeShell:
		return true
	case common.TypeHTTP:
		return x.cfg.HTTP != nil
	}
	return x.cfg.PlugIns.Dir != "" && common.ValidType(name) && !common.ReservedType(name)
}

// Documents returns the documents of the plug-ins that this worker offers, by name.
func (x *Executor) Documents() map[string]typeschema.Document {
	all := map[string]typeschema.Document{}
	for _, p := range x.offered() {
		all[p.name] = p.is.Document
	}
	return all
}

// TypeReports returns all types and plug-ins of this machine, in order.
func (x *Executor) TypeReports() (all []TypeReport) {
	for _, name := range slices.Sorted(maps.Keys(x.Types())) {
		if common.ReservedType(name) {
			all = append(all, TypeReport{Name: name, Version: "1"})
		}
	}
	x.plugIns.mu.Lock()
	defer x.plugIns.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(x.plugIns.known)) {
		p := x.plugIns.known[name]
		r := TypeReport{Name: name, File: p.file}
		if p.is != nil {
			r.Version = p.is.Version
		} else {
			r.Problem = p.problem.Error()
		}
		all = append(all, r)
	}
	return all
}

// brokenTypes returns the condition of plug-ins that do not describe themselves.
func (x *Executor) brokenTypes() (found []common.Condition) {
	x.plugIns.mu.Lock()
	defer x.plugIns.mu.Unlock()
	var names, texts []string
	var since time.Time
	for _, name := range slices.Sorted(maps.Keys(x.plugIns.known)) {
		p := x.plugIns.known[name]
		if _, is := errors.AsType[broken](p.problem); !is {
			continue
		}
		names, texts = append(names, name), append(texts, name+": "+common.Excerpt(p.problem.Error()))
		if since.IsZero() || p.since.Before(since) {
			since = p.since
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []common.Condition{{
		Code: common.ConditionTypeBroken,
		From: since,
		Text: "plug-ins do not describe themselves, and are not offered: " + strings.Join(texts, "; "),
		Data: common.Words{"types": strings.Join(names, ", "), "error": strings.Join(texts, "; ")},
	}}
}

// typeFeatures returns the features of the types, in order.
func (x *Executor) typeFeatures() (features []string) {
	for _, name := range slices.Sorted(maps.Keys(x.Types())) {
		if name != common.TypeShell {
			features = append(features, common.FeatureOfType(name))
		}
	}
	return features
}
