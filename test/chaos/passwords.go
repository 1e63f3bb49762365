package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"carillon/test/chaos/check"
	"carillon/test/harness"
)

// tokenTTL is how long a member of etcd remembers a token that is not used there.
const tokenTTL = 5 * time.Second

const (
	rootUser, rootPassword = "root", "the-roots-password"
	mastersUser            = "carillon-master"
	workersRole            = "carillon-worker"
)

// accounts are the users of etcd: that of all masters, and one of each worker. Each has the rights that
// deploy/etcd-users.sh grants.
type accounts struct {
	root      *clientv3.Client
	dir       string
	passwords map[string]string // by user
}

// etcdFlags are the flags of a server with passwords. Hashing costs as little as it may: three servers and
// all daemons share a machine.
func etcdFlags() []string {
	ttl := fmt.Sprint(int(tokenTTL.Seconds()))
	return []string{"--auth-token", "simple", "--auth-token-ttl", ttl, "--bcrypt-cost", "4"}
}

// file is where a daemon reads its password.
func (a *accounts) file(user string) string { return filepath.Join(a.dir, user+".password") }

// flags are those of a daemon.
func (a *accounts) flags(user string) []string {
	if a == nil {
		return nil
	}
	return []string{"--etcd-username", user, "--etcd-password-file", a.file(user)}
}

// users are the names of all but root, sorted.
func (a *accounts) users() []string {
	var all []string
	for user := range a.passwords {
		all = append(all, user)
	}
	slices.Sort(all)
	return all
}

// write stores the password that a daemon logs in with.
func (a *accounts) write(user, password string) error {
	next := a.file(user) + ".new"
	if err := os.WriteFile(next, []byte(password+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(next, a.file(user))
}

// change gives a user another password, in the order that docs/deploy.md prescribes: the file first.
func (a *accounts) change(ctx context.Context, user, password string) error {
	if err := a.write(user, password); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	_, err := a.root.UserChangePassword(ctx, user, password)
	return err
}

// restrict makes users and roles and switches authentication on. The client of the stack is root from then on.
func (s *stack) restrict(ctx context.Context) error {
	a := &accounts{dir: s.dir, passwords: map[string]string{}}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	if err := a.role(ctx, s.client, mastersUser, right{"/cron/", true, readWrite}); err != nil {
		return err
	}
	shared := []right{{"/cron/epoch", false, readOnly}}
	for _, p := range []string{"jobs", "workers", "settings/workers", "masters", "secrets"} {
		shared = append(shared, right{"/cron/" + p + "/", true, readOnly})
	}
	for _, p := range []string{"cursor", "lock", "runs", "outbox", "triggers", "killer"} {
		shared = append(shared, right{"/cron/" + p + "/", true, readWrite})
	}
	if err := a.role(ctx, s.client, workersRole, shared...); err != nil {
		return err
	}
	if err := a.user(ctx, s.client, mastersUser, mastersUser); err != nil {
		return err
	}
	for i := range workers {
		id, err := s.makeID(i)
		if err != nil {
			return err
		}
		user := workerUser(i)
		if err := a.role(ctx, s.client, user, right{"/cron/workers/" + id, false, readWrite}); err != nil {
			return err
		}
		if err := a.user(ctx, s.client, user, workersRole, user); err != nil {
			return err
		}
	}
	if _, err := s.client.UserAdd(ctx, rootUser, rootPassword); err != nil {
		return err
	}
	if err := a.role(ctx, s.client, rootUser); err != nil {
		return err
	}
	if _, err := s.client.UserGrantRole(ctx, rootUser, rootUser); err != nil {
		return err
	}
	if _, err := s.client.AuthEnable(ctx); err != nil {
		return err
	}
	root, err := clientv3.New(clientv3.Config{
		Endpoints: s.etcdURLs, Username: rootUser, Password: rootPassword, Logger: zap.NewNop(),
		DialTimeout: 5 * time.Second, DialKeepAliveTime: 2 * time.Second, DialKeepAliveTimeout: 2 * time.Second,
	})
	if err != nil {
		return fmt.Errorf("log in to etcd as root: %w", err)
	}
	before := s.client
	a.root, s.client, s.accounts = root, root, a
	return before.Close()
}

// workerUser is the user of a worker.
func workerUser(i int) string { return fmt.Sprintf("carillon-worker-%d", i+1) }

// makeID has a worker make its id, which its rights are for.
func (s *stack) makeID(i int) (string, error) {
	dir := filepath.Join(s.dir, fmt.Sprintf("worker-%d", i+1))
	name := fmt.Sprintf("worker-%d-id", i+1)
	args := []string{"id", "--data-dir", dir}
	p, err := s.h.start(command{name: name, program: "carillon-worker", log: s.logOf(name), args: args})
	if err != nil {
		return "", err
	}
	<-p.Done
	if !p.ProcessState.Success() {
		return "", fmt.Errorf("make the id of worker-%d: %s", i+1, p.Tail())
	}
	return readID(dir)
}

// The kinds of rights.
const (
	readOnly  = clientv3.PermissionType(clientv3.PermRead)
	readWrite = clientv3.PermissionType(clientv3.PermReadWrite)
)

// right is what a role may do with a key, or with all keys of a prefix.
type right struct {
	key    string
	prefix bool
	kind   clientv3.PermissionType
}

func (a *accounts) role(ctx context.Context, client *clientv3.Client, name string, rights ...right) error {
	if _, err := client.RoleAdd(ctx, name); err != nil {
		return fmt.Errorf("add role %s: %w", name, err)
	}
	for _, r := range rights {
		end := ""
		if r.prefix {
			end = clientv3.GetPrefixRangeEnd(r.key)
		}
		if _, err := client.RoleGrantPermission(ctx, name, r.key, end, r.kind); err != nil {
			return fmt.Errorf("grant %s to role %s: %w", r.key, name, err)
		}
	}
	return nil
}

func (a *accounts) user(ctx context.Context, client *clientv3.Client, name string, roles ...string) error {
	a.passwords[name] = "password-of-" + name
	if err := a.write(name, a.passwords[name]); err != nil {
		return err
	}
	if _, err := client.UserAdd(ctx, name, a.passwords[name]); err != nil {
		return fmt.Errorf("add user %s: %w", name, err)
	}
	for _, role := range roles {
		if _, err := client.UserGrantRole(ctx, name, role); err != nil {
			return fmt.Errorf("grant role %s to user %s: %w", role, name, err)
		}
	}
	return nil
}

// The ways in which tokens end.
type ending int

const (
	bySilence  ending = iota // a worker sends nothing for longer than tokens live
	byRestart                // the members are killed one after the other, and know no token afterwards
	byPassword               // a user gets another password and, later, the old one again
)

// endTokens lets tokens end under open streams, each way twice and in the order that the seed draws.
func endTokens(ctx context.Context, s *strike) error {
	if s.accounts == nil {
		return errors.New("needs an etcd with passwords")
	}
	ways := []ending{bySilence, bySilence, byRestart, byRestart, byPassword, byPassword}
	s.rng.Shuffle(len(ways), func(a, b int) { ways[a], ways[b] = ways[b], ways[a] })
	for _, way := range ways {
		var err error
		switch way {
		case bySilence:
			err = s.silence(ctx)
		case byRestart:
			err = s.restartMembers(ctx)
		case byPassword:
			err = s.passwordAndBack(ctx)
		}
		if err == nil {
			err = harness.Sleep(ctx, s.draw(500*time.Millisecond, 3*time.Second))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// draw is a time between two.
func (s *strike) draw(least, most time.Duration) time.Duration {
	return least + time.Duration(s.rng.Int64N(int64(most-least)))
}

// silence holds what a worker and etcd say to each other, until all members have forgotten the worker's token.
// The streams stay open, and the lease outlives it.
func (s *strike) silence(ctx context.Context) error {
	w := s.workers[s.rng.IntN(len(s.workers))]
	length := s.draw(tokenTTL+1500*time.Millisecond, tokenTTL+3*time.Second)
	s.say("nothing goes between %s and etcd for %v", w.name, length.Round(100*time.Millisecond))
	end := s.begin(check.Event{Kind: check.WorkerCut, Worker: w.id, Text: "silence"})
	defer end()
	w.etcd.set(manner{up: true, down: true})
	defer w.etcd.set(manner{})
	if err := harness.Sleep(ctx, length); err != nil {
		return err
	}
	w.etcd.set(manner{})
	return s.reachesFrom(ctx, w)
}

// restartMembers kills the members one after the other, in an order drawn; each answers again before the next.
func (s *strike) restartMembers(ctx context.Context) error {
	for _, i := range s.rng.Perm(len(s.etcds)) {
		if err := s.restartMember(ctx, i); err != nil {
			return err
		}
		if err := harness.Sleep(ctx, s.draw(0, 2*time.Second)); err != nil {
			return err
		}
	}
	return nil
}

func (s *strike) restartMember(ctx context.Context, i int) error {
	u := s.etcds[i]
	s.say("%s is restarted", u.name)
	end := s.begin(check.Event{Kind: check.EtcdAway, Text: u.name})
	defer end()
	u.want(true, 100*time.Millisecond)
	if err := stop(ctx, u, syscall.SIGKILL); err != nil {
		return err
	}
	err := s.wait(ctx, startLimit, u.name+" answers again", func() bool {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		_, err := s.client.Status(ctx, s.etcdURLs[i])
		return err == nil
	})
	return errors.Join(err, s.etcdBack(ctx))
}

// passwordAndBack changes the password of a user, and changes it back while daemons may still log in with either.
func (s *strike) passwordAndBack(ctx context.Context) error {
	users := s.accounts.users()
	user := users[s.rng.IntN(len(users))]
	s.say("%s gets another password", user)
	err := s.accounts.change(ctx, user, s.accounts.passwords[user]+"-2")
	if err == nil {
		err = harness.Sleep(ctx, s.draw(0, 4*time.Second))
	}
	return errors.Join(err, s.accounts.change(context.WithoutCancel(ctx), user, s.accounts.passwords[user]))
}
