package etcd

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/etcdkit/etcdtest"
	"carillon/internal/executor/typeschema"
)

// leases is a session with a lease that a test chooses.
type leases struct{ id clientv3.LeaseID }

func (l *leases) Lease(context.Context) (clientv3.LeaseID, error) { return l.id, nil }

func (l *leases) Invalidate(clientv3.LeaseID) {}

const sql = `{"protocol": 1, "name": "sql", "version": "1.2.0", "title": {"en": "SQL statement"},
 "with": {"type": "object", "required": ["dsn"], "properties": {"dsn": {"type": "string", "x-secret": true}}},
 "outputs": ["rows"]}`

func documents(t *testing.T, texts ...string) map[string]typeschema.Document {
	t.Helper()
	all := map[string]typeschema.Document{}
	for _, text := range texts {
		one, err := typeschema.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		all[one.Name] = one.Document
	}
	return all
}

func keeperOf(client *clientv3.Client, session Leases, worker string,
	documents func() map[string]typeschema.Document) *Keeper {
	return NewKeeper(KeeperConfig{Client: client, Leases: session, Worker: worker, Every: time.Hour,
		Documents: documents, Report: func(error) {}, Log: slog.New(slog.DiscardHandler)})
}

func member(id string, types map[string]string) common.Member {
	life := common.Life{Worker: id, Name: "name-" + id}
	return common.Member{Registration: common.Registration{Life: life, Types: types}}
}

func TestDocumentsFollowTheWorker(t *testing.T) {
	client := etcdtest.Start(t)
	grant := func() clientv3.LeaseID {
		id, err := etcdkit.Grant(t.Context(), client, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	session := &leases{grant()}
	present := documents(t, sql, strings.Replace(sql, `"sql"`, `"other"`, 1))
	keeper := keeperOf(client, session, "w1", func() map[string]typeschema.Document { return present })
	held := func() map[string]clientv3.LeaseID {
		found := map[string]clientv3.LeaseID{}
		resp, err := etcdkit.Range(t.Context(), client, common.TypesPrefix, clientv3.WithPrefix())
		if err != nil {
			t.Fatal(err)
		}
		for _, kv := range resp.Kvs {
			found[string(kv.Key)] = clientv3.LeaseID(kv.Lease)
		}
		return found
	}
	write := func() {
		t.Helper()
		if err := keeper.Write(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	write()
	if got := held(); len(got) != 2 || got[common.TypeKey("w1", "sql")] != session.id {
		t.Fatalf("%v", got)
	}
	session.id = grant() // the session has a new lease
	present = documents(t, sql)
	write()
	if got := held(); len(got) != 1 || got[common.TypeKey("w1", "sql")] != session.id {
		t.Fatalf("%v", got)
	}
	if err := etcdkit.Revoke(t.Context(), client, int64(session.id)); err != nil {
		t.Fatal(err)
	}
	if got := held(); len(got) != 0 {
		t.Errorf("documents have outlived the session: %v", got)
	}
}

func TestCatalog(t *testing.T) {
	client := etcdtest.Start(t)
	id, err := etcdkit.Grant(t.Context(), client, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(sql, `["dsn"]`, `["dsn", "file"]`, 1)
	for worker, text := range map[string]string{"w1": sql, "w2": other} {
		keeper := keeperOf(client, &leases{id}, worker,
			func() map[string]typeschema.Document { return documents(t, text) })
		if err := keeper.Write(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	workers := []common.Member{
		member("w1", map[string]string{"shell": "1", "http": "1", "sql": "1.2.0"}),
		member("w2", map[string]string{"shell": "1", "http": "1", "sql": "1.2.0", "unpublished": "1"}),
		member("old", nil),
	}
	catalog, err := NewCatalog(client, func() []common.Member { return workers })
	if err != nil {
		t.Fatal(err)
	}
	types, err := catalog.Types(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range types {
		names = append(names, types[i].Name)
	}
	if strings.Join(names, " ") != "http shell sql" || len(types[0].Workers) != 2 || len(types[1].Workers) != 3 ||
		len(types[2].Workers) != 2 || !types[2].Differs || types[0].Differs || !types[0].BuiltIn ||
		types[0].With == nil {
		t.Errorf("%+v", types)
	}
	faults := func(job *common.Job) string {
		t.Helper()
		found, err := catalog.Faults(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, f := range found {
			all = append(all, f.Location+" "+f.Code)
		}
		return strings.Join(all, "; ")
	}
	for want, job := range map[string]*common.Job{
		"":                           {Type: "unknown", With: common.With{"a": "b"}},
		"with schema":                {Type: "sql", With: common.With{"dsn": "x"}},
		"with.url required":          {Type: "http"},
		"steps[1].with.url required": {Steps: []common.Step{{Name: "a", Command: "true"}, {Name: "b", Type: "http"}}},
	} {
		if got := faults(job); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	warn := func(job *common.Job) string {
		t.Helper()
		found, err := catalog.Warnings(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 {
			return ""
		}
		return found[0].Location + " " + found[0].Code
	}
	for want, job := range map[string]*common.Job{
		"":                           {Command: "true"},
		"type unknown_type":          {Type: "unknown"},
		"type type_differs":          {Type: "sql"},
		"steps[0].type unknown_type": {Steps: []common.Step{{Name: "a", Type: "unknown"}}},
	} {
		if got := warn(job); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	workers = []common.Member{member("billing", map[string]string{common.TypeFunc: "1"})}
	if types, err = catalog.Types(t.Context()); err != nil || types[0].Name != common.TypeFunc ||
		types[0].Workers[0].ID != "billing" || !json.Valid(types[0].With) {
		t.Errorf("with a program: %+v, %v", types, err)
	}
	workers = nil
	if got := warn(&common.Job{Type: "http"}); got != "type unknown_type" {
		t.Errorf("without workers: %q", got)
	}
}
