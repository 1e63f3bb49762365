package contract

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/access"
	"carillon/internal/access/oidc/oidctest"
	"carillon/internal/cluster/continuity"
	"carillon/internal/common"
	"carillon/internal/etcdkit/etcdtest"
	"carillon/internal/master"
	"carillon/internal/platform/config"
	"carillon/internal/platform/lifecycle"
	"carillon/internal/platform/metrics"
	"carillon/internal/runlog"
	"carillon/internal/runlog/sqlitelog"
)

// stack is a master with everything that it needs.
type stack struct {
	t      *testing.T
	base   string
	client *http.Client
	etcd   *clientv3.Client
	store  *sqlitelog.Store
	admin  actor
	made   *int // number of created users
}

// start starts a master, with a registered worker that does nothing.
func start(t *testing.T) *stack {
	t.Helper()
	client := etcdtest.Start(t)
	store, err := sqlitelog.Open(t.Context(), filepath.Join(t.TempDir(), "runs.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	log := slog.New(slog.DiscardHandler)
	issuer := oidctest.Start(t)
	single := config.OIDC{
		Issuer:       issuer.URL,
		ClientID:     oidctest.ClientID,
		ClientSecret: config.NewSecret(oidctest.ClientSecret),
		Title:        "Company login",
		Scopes:       []string{"openid"},
		NameClaim:    "preferred_username",
		GroupsClaim:  "groups",
		Roles:        []config.OIDCRole{{Claimed: "*", Role: "viewer"}},
	}
	s := &stack{t: t, made: new(int), etcd: client, store: store, client: &http.Client{Timeout: 30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	// Before the master starts: it does not compare its clock with one that it only finds in its first list.
	s.put(common.WorkerKey(workerID), common.Registration{
		Life:      common.Life{Worker: workerID, Name: "north", Life: "l"},
		Host:      "north",
		Version:   "test",
		Slots:     4,
		StartedAt: time.Now(),
		Clock:     time.Now(),
		Lease:     7,
	})
	accounts := master.NewAccess(client, &single)
	m, err := master.New(master.Config{
		Etcd:     client,
		Store:    store,
		Version:  "test",
		Log:      log,
		Registry: metrics.NewRegistry("test"),
		ID:       common.NewID(),
		Clock:    continuity.NewClock(slog.New(slog.DiscardHandler)),
		Origin:   continuity.NewOrigin(slog.New(slog.DiscardHandler)),
		API: config.API{
			HTTP: config.HTTP{Listen: "127.0.0.1:0"},
			OIDC: single,
			Notify: config.Notify{
				PublicURL:  "http://127.0.0.1",
				SecretsKey: config.NewSecret("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="),
			},
			Timezone: "UTC",
		},
		Console: fstest.MapFS{"index.html": {Data: []byte("<!doctype html><title>Carillon</title>")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- lifecycle.New(log, m.Parts()...).Run(ctx, context.Background()) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the master: %v", err)
		}
	})
	token, err := accounts.Bootstrap(t.Context(), common.Actor{Name: "bootstrap"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.admin = actor{name: "admin everywhere", token: token, role: access.Admin}
	for s.base == "" || !s.ready() { // the lifecycle starts parts in order, the API last
		if t.Context().Err() != nil {
			t.Fatal("the master did not get ready")
		}
		time.Sleep(10 * time.Millisecond)
		s.base = "http://" + m.Address()
	}
	return s
}

const workerID = "w1"

func (s *stack) ready() bool {
	resp, err := s.client.Get(s.base + "/readyz")
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// put writes a value into etcd, as another process would.
func (s *stack) put(key string, value any) {
	s.t.Helper()
	data, err := json.Marshal(value)
	if err == nil {
		_, err = s.etcd.Put(s.t.Context(), key, string(data))
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// actor is a caller.
type actor struct {
	name   string
	token  string
	cookie string // instead of a token
	role   access.Role
	groups []string // groups of the role; empty for everywhere
}

func (a *actor) identity() *access.Identity {
	who := &access.Identity{}
	if len(a.groups) == 0 {
		who.Role = a.role
		return who
	}
	who.Grants = map[string]access.Role{}
	for _, group := range a.groups {
		who.Grants[group] = a.role
	}
	return who
}

// cast creates a token of each role, everywhere and for one group, and a caller without a token.
func (s *stack) cast(group string) []actor {
	all := []actor{{name: "without a token"}}
	for _, role := range access.Roles {
		for _, groups := range [][]string{nil, {group}} {
			a := actor{name: string(role) + " everywhere", role: role, groups: groups}
			if len(groups) > 0 {
				a.name = string(role) + " in " + group
			}
			token := access.NewToken()
			s.put(common.TokenKey(token.ID), token.Record(access.TokenRequest{Name: a.name, Role: role, Groups: groups},
				nil, "test", time.Now()))
			a.token = token.Reveal()
			all = append(all, a)
		}
	}
	return all
}

// object is what calls are about: a job of a group with its runs. Names in braces in the targets and bodies of calls
// are replaced by its vars.
type object struct {
	group string
	vars  map[string]string
	ready map[string]bool // operations that are prepared
}

func (o *object) fill(text string) string {
	for name, value := range o.vars {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

func (o *object) filled(all []string) []string {
	filled := make([]string, len(all))
	for i := range all {
		filled[i] = o.fill(all[i])
	}
	return filled
}

// canary is contained in all data that requires a role in the group.
func canary(group string) string {
	if group == exampleGroup {
		return "report"
	}
	return "hush-" + group + "-hush"
}

// object creates a job with a run that has printed something.
func (s *stack) object(group string) *object {
	s.t.Helper()
	label := group
	if label == "" {
		label = "none"
	}
	hush := canary(group)
	o := &object{
		group: group,
		ready: map[string]bool{},
		vars: map[string]string{
			"group":  group,
			"label":  label,
			"job":    "job-" + label,
			"worker": workerID,
			"hush":   hush,
		},
	}
	job := map[string]any{
		"name":        o.vars["job"],
		"group":       group,
		"title":       "a job",
		"command":     "echo " + hush,
		"stdin":       hush,
		"env":         map[string]string{"A": hush},
		"params":      map[string]any{"P": map[string]string{"default": hush}},
		"workDir":     "/" + hush,
		"user":        hush,
		"description": hush,
		"cronExpr":    "0 0 1 1 *",
	}
	var saved struct{ Meta struct{ UID string } }
	s.ask(http.MethodPost, "/api/v1/jobs", job, &saved)
	job["title"] = "the same job"
	var again struct{ Meta struct{ Version int64 } }
	s.ask(http.MethodPut, "/api/v1/jobs/"+o.vars["job"], job, &again)
	o.vars["version"] = fmt.Sprint(again.Meta.Version)

	at := time.Now().UTC().Add(-time.Hour).Truncate(time.Second)
	fire := common.PlannedFire(saved.Meta.UID, at)
	run := common.Run{
		ID:          common.RunID(fire, 1),
		Job:         o.vars["job"],
		JobUID:      saved.Meta.UID,
		Group:       group,
		Fire:        fire,
		PlannedAt:   at,
		Cause:       common.CauseManual,
		Attempt:     1,
		Status:      common.StatusFailed,
		Reason:      &common.Reason{Code: "exit_code", Data: map[string]string{"path": hush}, Text: hush},
		Worker:      workerID,
		WorkerName:  "north",
		ClaimedAt:   &at,
		StartedAt:   &at,
		EndedAt:     new(at.Add(time.Minute)),
		ExitCode:    new(3),
		Note:        hush,
		Params:      map[string]string{"P": hush},
		TriggeredBy: "operator",
		OutputBytes: int64(len(hush)),
	}
	err := s.store.Write(s.t.Context(), runlog.Batch{
		Runs:   []common.Run{run},
		Chunks: []common.Chunk{{Run: run.ID, Stream: common.Stdout, At: at, Data: []byte(hush)}},
		Usage: []common.Usage{{Run: run.ID, Source: common.UsageOfCgroup, Interval: 2 * time.Second,
			Samples: []common.UsageSample{
				{At: at.Add(time.Second), CPUSeconds: 0.5, MemoryBytes: 9 << 20, ReadBytes: 4 << 10, Processes: 2},
				{At: at.Add(time.Minute), CPUSeconds: 2.25, ReadBytes: 4 << 10, WrittenBytes: 1 << 20},
			}}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	o.vars["run"], o.vars["fire"] = run.ID, fire
	return o
}

// ask sends a request as an admin, and requires success.
func (s *stack) ask(method, target string, body, answer any) {
	s.t.Helper()
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			s.t.Fatal(err)
		}
	}
	a := s.do(s.admin, request{method: method, target: target, body: string(text)})
	if a.status/100 != 2 {
		s.t.Fatalf("%s %s: %d %s", method, target, a.status, a.body)
	}
	if answer != nil {
		if err := json.Unmarshal(a.body, answer); err != nil {
			s.t.Fatalf("%s %s: %v", method, target, err)
		}
	}
}

// document returns the master's OpenAPI document.
func (s *stack) document() document {
	s.t.Helper()
	a := s.do(s.admin, request{method: http.MethodGet, target: "/openapi.json"})
	doc, err := read(a.body)
	if err != nil || a.status != http.StatusOK {
		s.t.Fatalf("the document: %d, %v", a.status, err)
	}
	return document(fields(doc))
}

type request struct {
	method, target, body string
	headers              []string // names and values in turn
	follow               bool     // stop reading after the first part of the response
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

// do sends a request.
func (s *stack) do(who actor, r request) answer {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, r.method, s.base+r.target, strings.NewReader(r.body))
	if err != nil {
		s.t.Fatal(err)
	}
	if r.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(r.headers); i += 2 {
		req.Header.Set(r.headers[i], r.headers[i+1])
	}
	if who.cookie != "" {
		req.Header.Set("Cookie", who.cookie)
	}
	if who.token != "" {
		req.Header.Set("Authorization", "Bearer "+who.token)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		s.t.Fatalf("%s %s: %v", r.method, r.target, err)
	}
	defer resp.Body.Close()
	a := answer{status: resp.StatusCode, header: resp.Header}
	if r.follow && resp.StatusCode == http.StatusOK {
		a.body = make([]byte, 64<<10)
		n, err := resp.Body.Read(a.body)
		if err != nil && n == 0 {
			s.t.Errorf("%s %s: %v", r.method, r.target, err)
		}
		a.body = a.body[:n]
		return a
	}
	if a.body, err = io.ReadAll(resp.Body); err != nil {
		s.t.Fatalf("%s %s: %v", r.method, r.target, err)
	}
	return a
}

// kept are the prefixes of keys that only requests change: a rejected request must not change them. Processes write
// their own state all the time, and changes are delivered.
var kept = []string{common.JobsPrefix, common.FlowRunsPrefix, common.FlowNodesPrefix, common.FlowWaitsPrefix,
	common.TriggersPrefix, common.KillerPrefix, common.WorkerSettingsPrefix,
	common.ChannelsPrefix, common.SecretsPrefix, common.ViewsPrefix, common.HooksPrefix, common.WindowsPrefix,
	common.UsersPrefix, common.TokensPrefix, common.ChangesPrefix}

// mark returns the keys with their revisions.
func (s *stack) mark() map[string]int64 {
	s.t.Helper()
	all := map[string]int64{}
	for _, prefix := range kept {
		resp, err := s.etcd.Get(s.t.Context(), prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())
		if err != nil {
			s.t.Fatal(err)
		}
		for _, kv := range resp.Kvs {
			all[string(kv.Key)] = kv.ModRevision
		}
	}
	return all
}

// changed returns the keys that differ.
func (s *stack) changed(before map[string]int64) (keys []string) {
	s.t.Helper()
	after := s.mark()
	for key, revision := range after {
		if before[key] != revision {
			keys = append(keys, key)
		}
	}
	for key := range before {
		if after[key] == 0 && !strings.HasPrefix(key, common.ChangesPrefix) {
			keys = append(keys, key)
		}
	}
	return keys
}
