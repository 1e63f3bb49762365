package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
	"carillon/internal/platform/bootclock"
)

// Exit codes of cronctl lock.
const (
	exitNotAcquired = 75
	exitLockLost    = 76
)

// lockFlags are the flags of cronctl lock.
type lockFlags struct {
	wait, ttl, grace, stopGrace time.Duration
	id                          string
}

const lockHelp = `Run a command while holding a named lock: at most one such command runs at a time, on any
machine. The words after -- are a program and its arguments, run without a shell: write
-- sh -c 'a; b' for a command line. The command gets CARILLON_LOCK (the name), CARILLON_FENCE (a number that grows from
owner to owner: resources that reject lower ones are protected from late writes),
CARILLON_LOCK_SESSION (for requests to the API, such as a note) and, if the lock was taken over
from an owner that had disappeared, CARILLON_LOCK_NOTE (the last note of that owner).

The lock survives interruptions that are shorter than --grace. When it is lost, the command and
its process group get TERM and, after --stop-grace, KILL, before another client can have the
lock, unless an operator has released it by force. What the command leaves in its process group
is killed when it ends.

The server may be a list of masters, separated by commas: the lock survives the death of each.
You need the role operator in the group that the name begins with (up to the first dot).

Exit codes: that of the command (128 + signal if a signal ended it); 75 if the lock was not
acquired within --wait; 76 if the lock was lost.`

func (c *cli) lock() *cobra.Command {
	f := lockFlags{}
	cmd := &cobra.Command{
		Use:   "lock NAME [flags] -- COMMAND [ARG]...",
		Short: "Run a command while holding a named lock",
		Long:  lockHelp,
		Example: `  cronctl lock imports.eu -- ./import --region eu
  cronctl lock imports.eu --wait 0 -- ./import --region eu
  cronctl lock --server http://master-1:7070,http://master-2:7070 imports.eu -- ./import`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() != 1 {
				return invalid("one name and a command are needed", "write cronctl lock NAME -- COMMAND [ARG]...")
			}
			if err := named("lock", args[0]); err != nil {
				return err
			}
			if most := f.mostStopGrace(); !cmd.Flags().Changed("stop-grace") && most >= 0 {
				f.stopGrace = min(f.stopGrace, most)
			}
			limited := cmd.Flags().Changed("wait")
			return c.runLocked(cmd.Context(), args[0], &f, limited, args[1:])
		},
	}
	cmd.Flags().DurationVar(&f.wait, "wait", 0,
		"how long to wait for the lock; 0: not at all (default: without limit)")
	cmd.Flags().DurationVar(&f.ttl, "ttl", common.DefaultLockTTL,
		"time without keep-alives after which the cluster regards this client as gone")
	cmd.Flags().DurationVar(&f.grace, "grace", common.DefaultLockGrace,
		"how long this client may be away without losing the lock; at least --ttl + 5s")
	cmd.Flags().DurationVar(&f.stopGrace, "stop-grace", 5*time.Second,
		"time between TERM and KILL; the default is less if --grace leaves less")
	cmd.Flags().StringVar(&f.id, "id", "", "name of this client, for people (default: host and process)")
	return cmd
}

// terms returns the terms of the lock.
func (f *lockFlags) terms() common.LockTerms {
	return common.LockTerms{TTL: common.Duration(f.ttl.String()), Grace: common.Duration(f.grace.String())}
}

// mostStopGrace is the longest time between TERM and KILL that ends before another client can have the lock, although
// its loss is noticed only by missing keep-alives.
func (f *lockFlags) mostStopGrace() time.Duration { return f.terms().Fence() - f.ttl }

// check returns the terms of the lock, if the flags agree with each other.
func (f *lockFlags) check() (common.LockTerms, error) {
	t := f.terms()
	faults := t.Faults()
	if most := f.mostStopGrace(); len(faults) == 0 && (f.stopGrace < 0 || f.stopGrace > most) {
		faults = append(faults, common.NewFault("stop-grace", "bounds", f.stopGrace.String(),
			"must be at most %v", most))
	}
	if len(faults) > 0 {
		return t, common.Invalid("the lock cannot be used", faults...)
	}
	return t, nil
}

// lockClient is a session of a lock, with the masters that serve it.
type lockClient struct {
	apis    []*apiclient.API
	last    int // index of the one that answered last
	name    string
	session string
	boot    func() time.Duration
}

func (c *cli) lockClient(name string) (*lockClient, error) {
	t, err := c.destination()
	if err != nil {
		return nil, err
	}
	apis, err := t.clients(c.stderr)
	if err != nil {
		return nil, err
	}
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails
	return &lockClient{apis: apis, name: name, session: hex.EncodeToString(secret[:]), boot: bootclock.Now}, nil
}

// try sends a request to one master after the other, until one answers it or refuses it for good.
func (l *lockClient) try(ctx context.Context, limit time.Duration,
	call func(context.Context, *apiclient.API) (apiclient.LockSession, error)) (s apiclient.LockSession, err error) {
	for range l.apis {
		callCtx, cancel := context.WithTimeout(ctx, limit)
		s, err = call(callCtx, l.apis[l.last])
		cancel()
		if err == nil || ctx.Err() != nil || !temporary(err) {
			return s, err
		}
		l.last = (l.last + 1) % len(l.apis)
	}
	return s, err
}

// temporary reports whether a request may succeed at another master or later.
func temporary(err error) bool {
	switch common.CodeOf(err) {
	case common.CodeUnavailable, common.CodeInternal, common.CodeTooMany, common.CodeConflict:
		return true
	}
	return false
}

// acquire waits for the lock; got is false if it was not acquired in time. The session is in the queue afterwards, or
// may be.
func (l *lockClient) acquire(ctx context.Context, f *lockFlags, terms common.LockTerms, limited bool) (
	s apiclient.LockSession, got bool, err error) {
	host, _ := os.Hostname() // for people
	id := cmp.Or(f.id, fmt.Sprintf("%s:%d", host, os.Getpid()))
	for until := l.boot() + f.wait; ; {
		wait := 30 * time.Second
		if limited {
			wait = min(wait, max(until-l.boot(), 0))
		}
		s, err = l.try(ctx, wait+10*time.Second, func(ctx context.Context, api *apiclient.API) (apiclient.LockSession,
			error) {
			return apiclient.Decode[apiclient.LockSession](api.AcquireLock(ctx, l.name, apiclient.LockRequest{
				Id:      id,
				Session: &l.session,
				Ttl:     set(string(terms.TTL)),
				Grace:   set(string(terms.Grace)),
				Wait:    set(wait.String()),
			}))
		})
		switch {
		case ctx.Err() != nil:
			return s, false, context.Cause(ctx)
		case err == nil && s.State == apiclient.LockSessionStateHeld:
			return s, true, nil
		case err != nil && !temporary(err):
			return s, false, err
		case limited && l.boot() >= until:
			return s, false, err
		case err != nil || s.State == apiclient.LockSessionStateBusy:
			if err := pause(ctx, time.Second, err); err != nil {
				return s, false, err
			}
		}
	}
}

// keepAlive sends one keep-alive. sent is when the request that was answered was sent.
func (l *lockClient) keepAlive(ctx context.Context, limit time.Duration) (s apiclient.LockSession, sent time.Duration,
	err error) {
	s, err = l.try(ctx, limit, func(ctx context.Context, api *apiclient.API) (apiclient.LockSession, error) {
		sent = l.boot()
		return apiclient.Decode[apiclient.LockSession](api.KeepLockAlive(ctx, l.name,
			apiclient.LockSessionRequest{Session: l.session}))
	})
	return s, sent, err
}

// release releases the lock or leaves the queue.
func (l *lockClient) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_, err := l.try(ctx, 5*time.Second, func(ctx context.Context, api *apiclient.API) (apiclient.LockSession, error) {
		return apiclient.Decode[apiclient.LockSession](api.ReleaseLock(ctx, l.name,
			apiclient.LockSessionRequest{Session: l.session}))
	})
	return err
}
