package etcd_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit/etcdtest"
	viewsetcd "carillon/internal/views/etcd"
)

var shared etcdtest.Shared

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

var ann = common.Actor{Name: "ann"}

func TestViews(t *testing.T) {
	t.Parallel()
	ctx, client := t.Context(), shared.Start(t)
	changes := 0
	s := viewsetcd.New(client, time.Now, func() { changes++ })
	save := func(owner, id, name string, pre common.Precondition) (common.View, bool, error) {
		return s.SaveView(ctx, ann, owner, id, common.ViewDefinition{Name: name, Query: "state=paused"}, pre)
	}
	names := func(owner string) string {
		t.Helper()
		all, err := s.Views(ctx, owner)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, v := range all {
			list = append(list, fmt.Sprintf("%s %s %v", v.ID, v.Name, v.Shared))
		}
		return strings.Join(list, ", ")
	}
	want := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	code := func(what string, err error, want common.Code) {
		t.Helper()
		if err == nil || common.CodeOf(err) != want {
			t.Errorf("%s: %v, want %s", what, err, want)
		}
	}

	first, created, err := save("u1", "a", " Paused ", common.Precondition{Absent: true})
	if err != nil || !created || first.Version == 0 || first.Name != "Paused" || first.UpdatedBy != "ann" ||
		first.Shared || first.CreatedAt.IsZero() {
		t.Fatalf("%+v, created %v: %v", first, created, err)
	}
	if _, _, err := save(common.SharedViews, "a", "all", common.Precondition{}); err != nil {
		t.Fatal(err)
	}
	want("ann's and the shared ones, by name", names("u1"), "a all true, a Paused false")
	want("of another user", names("u2"), "a all true")
	if again, created, err := save("u1", "a", "Paused", common.Precondition{}); created || err != nil ||
		again.Version != first.Version || changes != 2 {
		t.Errorf("the same again: %+v, created %v, %d changes: %v", again, created, changes, err)
	}
	_, _, err = save("u1", "a", "b", common.Precondition{Version: first.Version + 1000})
	code("of another version", err, common.CodeStale)
	_, _, err = save("u1", "a", "b", common.Precondition{Absent: true})
	code("only if there is none", err, common.CodeStale)
	_, _, err = save("u1", "a", " ", common.Precondition{})
	code("without a name", err, common.CodeInvalid)
	changed, created, err := save("u1", "a", "b", common.Precondition{Version: first.Version})
	if created || err != nil || !changed.CreatedAt.Equal(first.CreatedAt) || changed.Version <= first.Version {
		t.Errorf("changed: %+v, created %v: %v", changed, created, err)
	}
	code("of another owner", s.DeleteView(ctx, ann, "u2", "a", common.Precondition{}), common.CodeNotFound)
	if err := s.DeleteView(ctx, ann, "u1", "a", common.Precondition{}); err != nil {
		t.Error(err)
	}
	want("after the deletion", names("u1"), "a all true")
	changesOf(t, client, "create view a, create view a, replace view a, delete view a")
}

func changesOf(t *testing.T, client *clientv3.Client, want string) {
	t.Helper()
	resp, err := client.Get(t.Context(), common.ChangesPrefix, clientv3.WithPrefix(),
		clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, kv := range resp.Kvs {
		c, err := common.Decode[common.Change](kv.Value)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c.Verb+" "+c.Kind+" "+c.Name)
	}
	if got := strings.Join(all, ", "); got != want {
		t.Errorf("changes %s, want %s", got, want)
	}
}

func TestSaveView_Damaged_IsReplacedAndKeepsUnknownFields(t *testing.T) {
	t.Parallel()
	ctx, client := t.Context(), shared.Start(t)
	s := viewsetcd.New(client, time.Now, func() {})
	for id, text := range map[string]string{"bad": `{"id":"other"`, "new": `{"id":"new","name":"n","query":"","colour":"red"}`} {
		if _, err := client.Put(ctx, common.ViewKey("u1", id), text); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := s.Views(ctx, "u1"); err != nil || len(all) != 1 || all[0].ID != "new" {
		t.Errorf("%+v: %v", all, err)
	}
	_, _, err := s.SaveView(ctx, ann, "u1", "new", common.ViewDefinition{Name: "m"}, common.Precondition{})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Get(ctx, common.ViewKey("u1", "new"))
	if err != nil || !strings.Contains(string(resp.Kvs[0].Value), `"colour":"red"`) {
		t.Errorf("%+v: %v", resp, err)
	}
	if err := s.DeleteView(ctx, ann, "u1", "bad", common.Precondition{}); err != nil {
		t.Error(err)
	}
}

func TestSaveView_OverTheLimit_IsRefused(t *testing.T) {
	t.Parallel()
	ctx, client := t.Context(), shared.Start(t)
	s := viewsetcd.New(client, time.Now, func() {})
	for i := range 50 {
		if _, err := client.Put(ctx, common.ViewKey("u1", fmt.Sprintf("v%d", i)), "{}"); err != nil {
			t.Fatal(err)
		}
	}
	save := func(owner, id string) error {
		_, _, err := s.SaveView(ctx, ann, owner, id, common.ViewDefinition{Name: "one more"}, common.Precondition{})
		return err
	}
	if err := save("u1", "more"); common.CodeOf(err) != common.CodeConflict || err == nil {
		t.Errorf("one more: %v", err)
	}
	if err := save("u1", "v7"); err != nil {
		t.Errorf("an existing one: %v", err)
	}
	if err := save("u2", "more"); err != nil {
		t.Errorf("of another user: %v", err)
	}
}
