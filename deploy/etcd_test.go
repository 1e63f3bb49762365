package deploy

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/etcdkit/etcdtest"
	"carillon/lock"
	"carillon/test/harness"
)

// right is what a user may do with keys.
type right int

const (
	nothing right = iota
	read
	readwrite
)

// rightsOfWorkers are what docs/security.md promises of a worker, by the names of the
// constants of common. A new prefix needs an entry here.
var rightsOfWorkers = map[string]right{
	"JobsPrefix": read, "WorkersPrefix": read, "WorkerSettingsPrefix": read, "MastersPrefix": read,
	"SecretsPrefix": read, "WindowsPrefix": read, "EpochKey": read, "TypesPrefix": read,
	"CursorPrefix": readwrite, "LockPrefix": readwrite, "RunsPrefix": readwrite, "OutboxPrefix": readwrite,
	"TriggersPrefix": readwrite, "KillerPrefix": readwrite, "AfterPrefix": readwrite, "SucceededPrefix": readwrite,
	"MovesPrefix": readwrite, "RebalanceKey": readwrite,
	"PoolSlotsPrefix": readwrite, "PoolsPrefix": read, "PoolUsersPrefix": nothing,
	"Root": nothing, "ChangesPrefix": nothing, "AuthPrefix": nothing, "IdempotencyPrefix": nothing,
	"ChannelsPrefix": nothing, "AlertsPrefix": nothing, "AttemptsPrefix": nothing, "ParentsKey": nothing,
	"WaitingNoticesPrefix": nothing, "DoneNoticesPrefix": nothing, "LeaderPrefix": nothing, "LeaderKey": nothing,
	"FindingsKey": nothing, "ClockKey": nothing, "ViewsPrefix": nothing, "HooksPrefix": nothing,
	"DefaultsPrefix": nothing,
	"LocksPrefix":    nothing,
	"AlertedKey":     nothing, "UsersPrefix": nothing, "TokensPrefix": nothing, "SessionsPrefix": nothing,
	"TokenUsesPrefix": nothing, "NetworksPrefix": nothing, "AuditKey": nothing, "BootstrapKey": nothing,
	"FlowsPrefix": read, "FlowRunsPrefix": readwrite, "FlowNodesPrefix": readwrite, "FlowWaitsPrefix": readwrite,
}

// keyspace reads the constants of common that are keys or prefixes of keys, by name.
func keyspace(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../internal/common/keys.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	var value func(ast.Expr) (string, bool)
	value = func(e ast.Expr) (string, bool) {
		switch e := e.(type) {
		case *ast.BasicLit:
			return strings.Trim(e.Value, `"`), e.Kind == token.STRING
		case *ast.Ident:
			v, known := values[e.Name]
			return v, known
		case *ast.BinaryExpr:
			x, known := value(e.X)
			y, also := value(e.Y)
			return x + y, known && also
		}
		return "", false
	}
	for range 3 { // a constant may be made from one further down
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, is := n.(*ast.ValueSpec); is && len(spec.Values) == len(spec.Names) {
				for i, name := range spec.Names {
					if v, known := value(spec.Values[i]); known && strings.HasPrefix(v, "/") {
						values[name.Name] = v
					}
				}
			}
			return true
		})
	}
	if values["Root"] != common.Root || values["SessionsPrefix"] != common.SessionsPrefix ||
		values["ClockKey"] != common.ClockKey {
		t.Fatalf("read %v", values)
	}
	return values
}

// guarded is an etcd with TLS, authentication, and the users of etcd-users.sh.
type guarded struct {
	*etcdtest.Secure
	t       *testing.T
	environ []string
}

const (
	ourID   = "aaaaaaaaaaaaaaaa"
	otherID = "bbbbbbbbbbbbbbbb"
	// of a program
	programID = "cccccccccccccccc"
)

func startGuarded(t *testing.T) *guarded {
	t.Helper()
	etcdctl, err := harness.Program("etcdctl")
	if err != nil {
		t.Fatal(err)
	}
	g := &guarded{Secure: etcdtest.StartSecure(t), t: t}
	cert, key := g.Certificate("root")
	g.environ = []string{
		"PATH=" + filepath.Dir(etcdctl) + ":" + os.Getenv("PATH"),
		"ETCDCTL_ENDPOINTS=https://" + g.Endpoint,
		"ETCDCTL_CACERT=" + g.Authority,
		"ETCDCTL_CERT=" + cert,
		"ETCDCTL_KEY=" + key,
	}
	return g
}

// users runs the script.
func (g *guarded) users(args ...string) (string, error) {
	g.t.Helper()
	script := exec.CommandContext(g.t.Context(), "./etcd-users.sh", args...)
	script.Env = g.environ
	var stderr bytes.Buffer
	script.Stderr = &stderr
	err := script.Run()
	return stderr.String(), err
}

func (g *guarded) mustUsers(args ...string) {
	g.t.Helper()
	if out, err := g.users(args...); err != nil {
		g.t.Fatalf("etcd-users.sh %v: %v: %s", args, err, out)
	}
}

// deeds are all the ways to read and to write keys from from to end (one key, if that is "").
func deeds(ctx context.Context, client *clientv3.Client, from, end string) (reads, writes map[string]func() error) {
	var span []clientv3.OpOption
	if end != "" {
		span = append(span, clientv3.WithRange(end))
	}
	with := func(more ...clientv3.OpOption) []clientv3.OpOption { return append(more, span...) }
	get := func(opts ...clientv3.OpOption) func() error {
		return func() error { _, err := client.Get(ctx, from, with(opts...)...); return err }
	}
	// The branch that is not taken counts as well.
	never := clientv3.Compare(clientv3.Version(common.CursorKey("none")), "<", 0)
	reads = map[string]func() error{
		"get": get(), "get stale": get(clientv3.WithSerializable()), "count": get(clientv3.WithCountOnly()),
		"list keys": get(clientv3.WithKeysOnly()),
		"get in a transaction": func() error {
			_, err := client.Txn(ctx).If(never).Then(clientv3.OpGet(from, span...)).Commit()
			return err
		},
		"get in a transaction in a transaction": func() error {
			inner := clientv3.OpTxn(nil, []clientv3.Op{clientv3.OpGet(from, span...)}, nil)
			_, err := client.Txn(ctx).If(never).Then(inner).Commit()
			return err
		},
		"compare": func() error {
			c := clientv3.Compare(clientv3.CreateRevision(from), ">", 0)
			if end != "" {
				c = c.WithRange(end)
			}
			_, err := client.Txn(ctx).If(c).Commit()
			return err
		},
		"watch": func() error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			first, open := <-client.Watch(ctx, from, with(clientv3.WithCreatedNotify())...)
			if !open {
				return errors.New("the watch ended")
			}
			if first.Err() == nil {
				return nil
			}
			if strings.Contains(first.Err().Error(), "permission denied") {
				return rpctypes.ErrPermissionDenied // a watch says it in words alone
			}
			return first.Err()
		},
	}
	writes = map[string]func() error{
		"delete": func() error { _, err := client.Delete(ctx, from, span...); return err },
		"delete in a transaction": func() error {
			_, err := client.Txn(ctx).If(never).Else(clientv3.OpDelete(from, span...)).Commit()
			return err
		},
	}
	if end == "\x00" { // all keys from there on: no single one can stand for them
		return reads, writes
	}
	key := from
	if end != "" {
		key += "x"
	}
	maps.Copy(writes, map[string]func() error{
		"put": func() error { _, err := client.Put(ctx, key, "1"); return err },
		"put in a transaction": func() error {
			_, err := client.Txn(ctx).If(never).Then(clientv3.OpPut(key, "1")).Commit()
			return err
		},
		"put in a transaction in a transaction": func() error {
			inner := clientv3.OpTxn([]clientv3.Cmp{never}, []clientv3.Op{clientv3.OpPut(key, "1")}, nil)
			_, err := client.Txn(ctx).Then(inner).Commit()
			return err
		},
	})
	return reads, writes
}

// expect tries everything with keys, and wants what is refused to be refused for want of a permission.
func expect(t *testing.T, who string, client *clientv3.Client, from, end string, want right) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	reads, writes := deeds(ctx, client, from, end)
	check := func(may bool, deeds map[string]func() error) {
		for what, deed := range deeds {
			err := deed()
			if may && err != nil || !may && !errors.Is(err, rpctypes.ErrPermissionDenied) {
				t.Errorf("%s: %s %s to %q: %v, may it: %v", who, what, from, end, err, may)
			}
		}
	}
	check(want >= read, reads)
	check(want >= readwrite, writes)
}

func TestRolesInEtcd(t *testing.T) {
	t.Parallel()
	g := startGuarded(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range 2 { // it may be run again, also when etcd refuses all other clients already
		g.mustUsers("masters")
		g.mustUsers("worker", "one", ourID)
		g.mustUsers("worker", "two", otherID)
		g.mustUsers("lock", "importer", "imports.")
		g.mustUsers("app", "billing", programID)
		g.mustUsers("enable")
	}
	root, master, worker, other := g.As("root"), g.As("carillon-master"), g.As("carillon-one"), g.As("carillon-two")

	t.Run("worker", func(t *testing.T) {
		keys := keyspace(t)
		for name, key := range keys {
			want, known := rightsOfWorkers[name]
			if !known {
				t.Errorf("common.%s: may workers read or write %s? Say so in rightsOfWorkers, etcd-users.sh and "+
					"docs/security.md", name, key)
				continue
			}
			end := ""
			if strings.HasSuffix(key, "/") {
				end = clientv3.GetPrefixRangeEnd(key)
			}
			expect(t, "worker", worker, key, end, want)
		}
		for name := range rightsOfWorkers {
			if keys[name] == "" {
				t.Errorf("common has no %s", name)
			}
		}
		// From a key that it may read on: a watch or list must not go on behind its end.
		for _, from := range []string{common.JobsPrefix, common.CursorPrefix, common.WorkerKey(ourID)} {
			expect(t, "worker, from there on", worker, from, "\x00", nothing)
		}
		expect(t, "worker, all before its own", worker, common.Root, common.CursorPrefix+"x", nothing)
		expect(t, "worker, one job", worker, common.JobKey("tick"), "", read)
		expect(t, "worker, its own registration", worker, common.WorkerKey(ourID), "", readwrite)
		expect(t, "worker, its own types", worker, common.TypesOfWorker(ourID), "", readwrite)
		expect(t, "worker, another's types", worker, common.TypesOfWorker(otherID), "", read)
		expect(t, "worker, another's registration", worker, common.WorkerKey(otherID), "", read)
		expect(t, "worker, a key like its own", worker, common.WorkerKey(ourID)+"x", "", read)
		expect(t, "worker, its own settings", worker, common.WorkerSettingsKey(ourID), "", read)
		expect(t, "worker, what is not ours", worker, "/other/", clientv3.GetPrefixRangeEnd("/other/"), nothing)
		expect(t, "worker, everything", worker, "\x00", "\x00", nothing)
	})

	// A program may do what a worker may, except that it reads neither secrets nor plug-ins.
	t.Run("app", func(t *testing.T) {
		program := g.As("carillon-billing")
		for name, key := range keyspace(t) {
			want := rightsOfWorkers[name]
			if name == "SecretsPrefix" || name == "TypesPrefix" {
				want = nothing
			}
			end := ""
			if strings.HasSuffix(key, "/") {
				end = clientv3.GetPrefixRangeEnd(key)
			}
			expect(t, "app", program, key, end, want)
		}
		expect(t, "app, its own registration", program, common.WorkerKey(programID), "", readwrite)
		expect(t, "app, a worker's registration", program, common.WorkerKey(ourID), "", read)
	})

	t.Run("master", func(t *testing.T) {
		for _, key := range keyspace(t) {
			end := ""
			if strings.HasSuffix(key, "/") {
				end = clientv3.GetPrefixRangeEnd(key)
			}
			expect(t, "master", master, key, end, readwrite)
		}
		expect(t, "master, what is not ours", master, "/other/", clientv3.GetPrefixRangeEnd("/other/"), nothing)
		expect(t, "master, everything", master, "\x00", "\x00", nothing)
	})

	t.Run("program with locks", func(t *testing.T) {
		program := g.As("carillon-importer")
		expect(t, "program, another lock", program, common.LockOwnerKey("exports.eu"), "", nothing)
		all := common.LocksPrefix
		expect(t, "program, all locks", program, all, clientv3.GetPrefixRangeEnd(all), nothing)
		expect(t, "program, a job", program, common.JobKey("tick"), "", nothing)
		held, err := lock.New(program, "imports.eu", lock.Options{}).Acquire(ctx)
		if err == nil {
			err = errors.Join(held.Note(ctx, "row 17"), held.Release(ctx))
		}
		if err != nil {
			t.Error(err)
		}
		if _, err := lock.New(program, "exports.eu", lock.Options{}).TryAcquire(ctx); err == nil {
			t.Error("a program acquired a lock that is not its own")
		}
	})

	// A client that may revoke a lease deletes the keys under it: a worker's life is bound to
	// its registration, which no other client may write.
	t.Run("lease", func(t *testing.T) {
		grant := func(key string) clientv3.LeaseID {
			t.Helper()
			lease, err := other.Grant(ctx, 60)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := other.Put(ctx, key, "{}", clientv3.WithLease(lease.ID)); err != nil {
				t.Fatal(err)
			}
			return lease.ID
		}
		life := grant(common.WorkerKey(otherID))
		if _, err := worker.Revoke(ctx, life); !errors.Is(err, rpctypes.ErrPermissionDenied) {
			t.Errorf("a worker may end another's life: %v", err)
		}
		if _, err := worker.Put(ctx, common.WorkerKey(ourID), "{}", clientv3.WithLease(life)); !errors.Is(err,
			rpctypes.ErrPermissionDenied) {
			t.Errorf("a worker may hang on another's life: %v", err)
		}
		if _, err := other.KeepAliveOnce(ctx, life); err != nil {
			t.Errorf("a worker may not keep itself alive: %v", err)
		}
		if _, err := other.Revoke(ctx, life); err != nil {
			t.Errorf("a worker may not end its own life: %v", err)
		}
	})

	t.Run("etcd itself", func(t *testing.T) {
		endpoint := "https://" + g.Endpoint
		for who, client := range map[string]*clientv3.Client{"worker": worker, "master": master} {
			for what, try := range map[string]func() error{
				"switch authentication off": func() error { _, err := client.AuthDisable(ctx); return err },
				"add a user": func() error {
					_, err := client.UserAdd(ctx, "mallory", "secret")
					return err
				},
				"delete a user": func() error {
					_, err := client.UserDelete(ctx, "carillon-two")
					return err
				},
				"set root's password": func() error {
					_, err := client.UserChangePassword(ctx, "root", "secret")
					return err
				},
				"become root": func() error {
					_, err := client.UserGrantRole(ctx, "carillon-one", "root")
					return err
				},
				"be a master": func() error {
					_, err := client.UserGrantRole(ctx, "carillon-one", "carillon-master")
					return err
				},
				"list users":   func() error { _, err := client.UserList(ctx); return err },
				"look at root": func() error { _, err := client.UserGet(ctx, "root"); return err },
				"list roles":   func() error { _, err := client.RoleList(ctx); return err },
				"widen its role": func() error {
					_, err := client.RoleGrantPermission(ctx, "carillon-worker", "/", "0",
						clientv3.PermissionType(clientv3.PermReadWrite))
					return err
				},
				"take a role away": func() error { _, err := client.RoleDelete(ctx, "carillon-two"); return err },
				"take all keys":    func() error { body, err := client.Snapshot(ctx); return readAll(body, err) },
				"hash all keys":    func() error { _, err := client.HashKV(ctx, endpoint, 0); return err },
				"defragment":       func() error { _, err := client.Defragment(ctx, endpoint); return err },
				"disarm alarms": func() error {
					_, err := client.AlarmDisarm(ctx, &clientv3.AlarmMember{
						MemberID: 1,
						Alarm:    etcdserverpb.AlarmType_NOSPACE,
					})
					return err
				},
				"move the leader": func() error { _, err := client.MoveLeader(ctx, 1); return err },
				"add a member": func() error {
					_, err := client.MemberAdd(ctx, []string{"http://127.0.0.1:1"})
					return err
				},
				"remove a member": func() error {
					_, err := client.MemberRemove(ctx, uint64(g.Server.Etcd.Server.MemberID()))
					return err
				},
			} {
				if err := try(); !errors.Is(err, rpctypes.ErrPermissionDenied) {
					t.Errorf("a %s may %s: %v", who, what, err)
				}
			}
			if _, err := client.Status(ctx, endpoint); err != nil {
				t.Errorf("a %s may not ask for the version: %v", who, err)
			}
		}
	})

	t.Run("without a certificate", func(t *testing.T) {
		conn, err := tls.Dial("tcp", g.Endpoint, g.TLS(""))
		if err == nil {
			_, err = conn.Read(make([]byte, 1)) // TLS 1.3 says it after the handshake
			conn.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "certificate required") {
			t.Errorf("who shows no certificate: %v", err)
		}
		expect(t, "a user without a role", g.As("etcd"), common.JobsPrefix,
			clientv3.GetPrefixRangeEnd(common.JobsPrefix), nothing)
	})

	t.Run("forget", func(t *testing.T) {
		g.mustUsers("forget", "two")
		g.mustUsers("forget", "two")
		if _, err := other.Get(ctx, common.JobKey("tick")); !errors.Is(err, rpctypes.ErrPermissionDenied) {
			t.Errorf("a worker that was taken away still reads: %v", err)
		}
		if _, err := root.RoleGet(ctx, "carillon-two"); !errors.Is(err, rpctypes.ErrRoleNotFound) {
			t.Errorf("its role is left: %v", err)
		}
		if _, err := worker.Get(ctx, common.JobKey("tick")); err != nil {
			t.Errorf("the other worker: %v", err)
		}
	})
}

// Users may be known by passwords as well: made by the script, readable by their owner only.
func TestPasswordsInEtcd(t *testing.T) {
	t.Parallel()
	g := startGuarded(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dir := t.TempDir()
	g.environ = append(g.environ, "PASSWORDS="+dir)
	g.mustUsers("masters")
	g.mustUsers("worker", "one", ourID)
	g.mustUsers("enable")
	g.mustUsers("masters") // again, with the password that there is
	password := func(user string) string {
		t.Helper()
		path := filepath.Join(dir, user+".password")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != fs.FileMode(0o600) || len(data) != 48 {
			t.Errorf("%s: %v, %v, %d bytes", path, info, err, len(data))
		}
		return string(data)
	}
	login := func(user, password string) error {
		t.Helper()
		// etcd wants some certificate from every client; the password decides.
		client, err := etcdkit.Dial(etcdkit.Config{
			Endpoints: []string{"https://" + g.Endpoint},
			Username:  user,
			Password:  password,
			TLS:       g.TLS("anyuser"),
		})
		if err != nil {
			return err
		}
		defer client.Close()
		_, err = client.Get(ctx, common.JobKey("tick"))
		if err == nil {
			if _, denied := client.Get(ctx, common.TokenKey("x")); user == "carillon-one" != errors.Is(denied,
				rpctypes.ErrPermissionDenied) {
				t.Errorf("%s reads tokens: %v", user, denied)
			}
		}
		return err
	}
	for _, user := range []string{"root", "carillon-master", "carillon-one"} {
		if err := login(user, password(user)); err != nil {
			t.Errorf("%s: %v", user, err)
		}
		if err := login(user, "wrong"); status.Code(err) != codes.Unauthenticated {
			t.Errorf("%s with a wrong password: %v", user, err)
		}
	}
	if err := login("nobody", "wrong"); status.Code(err) != codes.Unauthenticated {
		t.Errorf("an unknown user: %v", err)
	}
	g.mustUsers("forget", "one")
	if _, err := os.Stat(filepath.Join(dir, "carillon-one.password")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its password is left: %v", err)
	}
}

func TestEtcdUsers_InvalidArguments_AreRejected(t *testing.T) {
	g := &guarded{t: t, environ: []string{"PATH=/usr/bin:/bin"}}
	for _, args := range [][]string{nil, {"all"}, {"masters", "x"}, {"worker"}, {"worker", "one"},
		{"worker", "master", ourID}, {"worker", "one/..", ourID},
		{"worker", "", ourID}, {"worker", "one", "ID"}, {"worker", "one", "aaaaaaaaaaaaaaa/"},
		{"worker", "one", ourID + "a"}, {"lock", "one"}, {"lock", "one", "a/"}, {"lock", "master", "a"},
		{"app"}, {"app", "one"}, {"app", "worker", ourID}, {"worker", "app", ourID},
		{"forget"}, {"forget", "master"}, {"enable", "now"}} {
		out, err := g.users(args...)
		if exit, is := errors.AsType[*exec.ExitError](err); !is || exit.ExitCode() != 2 || out == "" {
			t.Errorf("etcd-users.sh %q: %v: %s", args, err, out)
		}
	}
}

func readAll(body interface{ Read([]byte) (int, error) }, err error) error {
	if err == nil {
		_, err = body.Read(make([]byte, 1))
	}
	return err
}
