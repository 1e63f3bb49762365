// Package local runs a complete Carillon inside a Go program, for development and for programs on a single machine: the
// API and the console on loopback, an etcd that no other process can reach, and a history in SQLite, all in one folder.
//
//	here, err := local.Open("data")
//	defer here.Close()
//	app, err := carillon.Open(here.Config("billing"))
//
// The apps of the program are its only workers: they run functions, and no commands. carillon-standalone can open the
// folder when the program does not run.
package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"carillon"
	accessetcd "carillon/internal/access/etcd"
	"carillon/internal/cluster/continuity"
	"carillon/internal/executor"
	"carillon/internal/master"
	"carillon/internal/master/datadir"
	"carillon/internal/platform/certs"
	"carillon/internal/platform/config"
	"carillon/internal/platform/lifecycle"
	"carillon/internal/platform/metrics"
	"carillon/internal/platform/wallclock"
	"carillon/internal/worker"
	"carillon/web"
)

// ErrInUse is returned by Open if the folder is open, in this process or in another one.
var ErrInUse = executor.ErrHomeInUse

// Standalone is an open folder.
type Standalone struct {
	dir    string
	log    *slog.Logger
	home   *executor.Home
	stores *datadir.Stores
	access *accessetcd.Store
	master *master.Master
	token  string // of an editor; set before Open returns

	stop  context.CancelFunc
	done  chan struct{} // closed when the master has stopped
	err   error         // of the master; read after done
	close func() error  // closes everything, once
}

// Open opens a folder, which it creates if missing, and returns when the API and the console answer. Close it after the
// apps have returned.
func Open(dir string, set ...Option) (*Standalone, error) {
	o := newOptions(set)
	api, err := config.LocalAPI(o.listen, o.timezone)
	if err != nil {
		return nil, fmt.Errorf("carillon/local: %w", err)
	}
	s := &Standalone{dir: dir, log: o.log, done: make(chan struct{})}
	s.close = sync.OnceValue(s.end)
	if err := s.open(api); err != nil {
		return nil, fmt.Errorf("carillon/local: %w", err)
	}
	return s, nil
}

func (s *Standalone) open(api config.API) (err error) {
	if s.home, err = executor.OpenHome(s.dir, worker.Hostname()); err != nil {
		return err
	}
	if api.Notify.SecretsKey, err = datadir.SecretsKey(s.dir); err != nil {
		return errors.Join(err, s.home.Close())
	}
	if s.stores, err = datadir.Open(context.Background(), s.dir, s.log); err != nil {
		return errors.Join(err, s.home.Close())
	}
	if err = s.newMaster(api); err == nil {
		err = s.start()
	}
	if err != nil {
		return errors.Join(err, s.stores.Close(), s.home.Close())
	}
	return nil
}

func (s *Standalone) newMaster(api config.API) (err error) {
	client := s.stores.Etcd.Client()
	registry := metrics.NewRegistry(worker.LibraryVersion())
	s.access = master.NewAccess(client, &api.OIDC)
	s.master, err = master.New(master.Config{
		API:          api,
		Etcd:         client,
		Store:        s.stores.Store,
		Version:      worker.LibraryVersion(),
		Log:          s.log,
		Registry:     registry,
		Certificates: certs.NewSet(wallclock.Now, s.log, registry.CertificateEnds),
		ID:           s.home.Life.Worker,
		Clock:        continuity.NewClock(s.log),
		Origin:       continuity.NewOrigin(s.log),
		Console:      web.Dist(),
		Guide:        carillon.Documents(),
	})
	return err
}

// start runs the master until Close, and returns when all of its parts run.
func (s *Standalone) start() error {
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	ready := make(chan struct{})
	parts := append(s.master.Parts(),
		lifecycle.Part{Name: "etcd", Serve: s.stores.Watch},
		lifecycle.Part{Name: "tokens", Start: s.createTokens, Stop: s.revokeTokens},
		lifecycle.Part{Name: "ready", Start: func(context.Context) error { close(ready); return nil }})
	go func() {
		defer close(s.done)
		s.err = lifecycle.New(s.log, parts...).Run(ctx, context.Background())
	}()
	select {
	case <-ready:
		return nil
	case <-s.done:
		stop()
		return s.err
	}
}

// Config returns the config of an app of this program. Fields that do not concern connections may be changed. The
// folder of the app is below that of the standalone.
func (s *Standalone) Config(app string) carillon.Config {
	return carillon.Config{
		App:       app,
		API:       carillon.API{URL: s.URL(), Token: s.token},
		Dir:       filepath.Join(s.dir, "apps", app),
		KeepFlows: true, // there is no other worker
		Log:       s.log,
		Local:     &worker.Local{Etcd: s.stores.Etcd.Client(), Store: s.stores.Store},
	}
}

// URL returns the address of the API and the console.
func (s *Standalone) URL() string { return "http://" + s.master.Address() }

// SignIn returns a link that opens the console as an admin, once, within 15 minutes. It needs the admin token, which
// the first Open stores in admin.token in the folder.
func (s *Standalone) SignIn(ctx context.Context) (link string, err error) {
	token, err := os.ReadFile(filepath.Join(s.dir, datadir.TokenFile))
	if err != nil {
		return "", fmt.Errorf("carillon/local: admin token: %w", err)
	}
	code, err := s.access.CreateLoginCode(ctx, actor(), strings.TrimSpace(string(token)))
	if err != nil {
		return "", fmt.Errorf("carillon/local: create login link: %w", err)
	}
	return s.URL() + "/#login=" + code, nil
}

// Done returns a channel that is closed when the standalone has stopped: after Close, or because a part of it has
// failed. Close returns the reason.
func (s *Standalone) Done() <-chan struct{} { return s.done }

// Close stops the standalone and closes its stores. Call it after the apps have returned.
func (s *Standalone) Close() error { return s.close() }

func (s *Standalone) end() error {
	s.stop()
	<-s.done
	err := errors.Join(s.err, s.stores.Close(), s.home.Close())
	if err != nil {
		return fmt.Errorf("carillon/local: %w", err)
	}
	return nil
}
