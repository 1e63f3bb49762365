package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"

	"carillon/internal/common"
	"carillon/internal/etcdkit/etcdtest"
	"carillon/internal/secrets/crypt"
	secretsetcd "carillon/internal/secrets/etcd"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const canary = "canary-4711-swordfish"

var ann = common.Actor{Name: "ann"}

func anything(*common.Secret) error { return nil }

func boxOf(t *testing.T, keys ...string) *crypt.Box {
	t.Helper()
	box, err := crypt.Parse(strings.Join(keys, " "))
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func storeOver(client *clientv3.Client, box *crypt.Box) *secretsetcd.Store {
	return secretsetcd.New(client, box, time.Now, func() {})
}

// everything returns all keys and values of etcd.
func everything(t *testing.T, client *clientv3.Client) string {
	t.Helper()
	resp, err := client.Get(t.Context(), common.Root, clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, kv := range resp.Kvs {
		fmt.Fprintf(&all, "%s=%s\n", kv.Key, kv.Value)
	}
	return all.String()
}

func save(t *testing.T, s *secretsetcd.Store, name, value string, groups ...string) common.Secret {
	t.Helper()
	saved, _, err := s.SaveSecret(t.Context(), ann, name, common.SecretDefinition{Value: value, Groups: groups},
		common.Precondition{}, anything)
	if err != nil {
		t.Fatal(err)
	}
	return saved
}

func wantCode(t *testing.T, err error, code common.Code) {
	t.Helper()
	if common.CodeOf(err) != code || err == nil {
		t.Errorf("%v, want %s", err, code)
	}
	if err != nil && strings.Contains(err.Error(), canary) {
		t.Errorf("the value is in the error: %v", err)
	}
}

func TestStore_SaveAndDelete(t *testing.T) {
	t.Parallel()
	client := etcdtest.Start(t)
	key := crypt.NewKey()
	s := storeOver(client, boxOf(t, key))
	told := 0
	s = secretsetcd.New(client, boxOf(t, key), time.Now, func() { told++ })
	made := save(t, s, "db", canary, "reports", "backup")
	if !slices.Equal(made.Groups, []string{"backup", "reports"}) || made.Version == 0 || made.CreatedAt.IsZero() ||
		made.SetAt.IsZero() || made.UpdatedBy != "ann" {
		t.Errorf("made %+v", made)
	}
	kept, created, err := s.SaveSecret(t.Context(), ann, "db",
		common.SecretDefinition{Groups: []string{"backup", "reports"}},
		common.Precondition{Version: made.Version}, anything)
	if err != nil || created || kept.Version != made.Version {
		t.Errorf("saved as it was: %+v, %v, %v", kept, created, err)
	}
	described, _, err := s.SaveSecret(t.Context(), ann, "db", common.SecretDefinition{Description: "of the reports"},
		common.Precondition{}, anything)
	if err != nil || !described.SetAt.Equal(made.SetAt) || len(described.Groups) != 0 ||
		described.Version <= made.Version {
		t.Errorf("described: %+v, %v", described, err)
	}
	if plain, why := secretsetcd.NewTable(client, boxOf(t, key), time.Now).Open(t.Context(), "db",
		""); string(plain) != canary {
		t.Errorf("the value did not stay: %q, %+v", plain, why)
	}
	set := save(t, s, "db", canary+"-2")
	if !set.SetAt.After(made.SetAt) || !set.CreatedAt.Equal(made.CreatedAt) {
		t.Errorf("set anew: %+v", set)
	}
	all, err := s.Secrets(t.Context())
	if err != nil || len(all) != 1 || all[0].Version != set.Version {
		t.Errorf("list: %+v, %v", all, err)
	}
	if text := everything(t, client); strings.Contains(text, "canary") || strings.Count(text, `"kind":"secret"`) != 3 ||
		told != 3 {
		t.Errorf("etcd, after %d changes that were told:\n%s", told, text)
	}

	_, _, err = s.SaveSecret(t.Context(), ann, "db", common.SecretDefinition{Value: canary},
		common.Precondition{Absent: true}, anything)
	wantCode(t, err, common.CodeStale)
	_, _, err = s.SaveSecret(t.Context(), ann, "db", common.SecretDefinition{Value: canary},
		common.Precondition{Version: made.Version}, anything)
	wantCode(t, err, common.CodeStale)
	_, _, err = s.SaveSecret(t.Context(), ann, "gone", common.SecretDefinition{Value: canary},
		common.Precondition{Version: 1}, anything)
	wantCode(t, err, common.CodeStale)
	_, _, err = s.SaveSecret(t.Context(), ann, "new", common.SecretDefinition{}, common.Precondition{}, anything)
	wantCode(t, err, common.CodeInvalid)
	_, _, err = s.SaveSecret(t.Context(), ann, "a/b", common.SecretDefinition{Value: canary},
		common.Precondition{}, anything)
	wantCode(t, err, common.CodeInvalid)
	_, _, err = storeOver(client, nil).SaveSecret(t.Context(), ann, "new", common.SecretDefinition{Value: canary},
		common.Precondition{}, anything)
	wantCode(t, err, common.CodeConflict)

	no := errors.New("no")
	forbid := func(before *common.Secret) error {
		if before == nil || before.Name != "db" {
			t.Errorf("judged is %+v", before)
		}
		return no
	}
	if _, _, err := s.SaveSecret(t.Context(), ann, "db", common.SecretDefinition{Value: canary}, common.Precondition{},
		forbid); !errors.Is(err, no) {
		t.Errorf("saved although not allowed: %v", err)
	}
	if err := s.DeleteSecret(t.Context(), ann, "db", common.Precondition{}, forbid); !errors.Is(err, no) {
		t.Errorf("deleted although not allowed: %v", err)
	}
	wantCode(t, s.DeleteSecret(t.Context(), ann, "db", common.Precondition{Version: 1}, anything), common.CodeStale)
	if err := s.DeleteSecret(t.Context(), ann, "db", common.Precondition{Version: set.Version}, anything); err != nil {
		t.Error(err)
	}
	wantCode(t, s.DeleteSecret(t.Context(), ann, "db", common.Precondition{}, anything), common.CodeNotFound)
	_, err = s.Secret(t.Context(), "db")
	wantCode(t, err, common.CodeNotFound)

	if _, err := client.Put(t.Context(), common.SecretKey("odd"), `{"name":"other"}`); err != nil {
		t.Fatal(err)
	}
	_, err = s.Secret(t.Context(), "odd")
	wantCode(t, err, common.CodeInternal)
	if save(t, s, "odd", canary); err != nil {
		if _, err := s.Secret(t.Context(), "odd"); err != nil {
			t.Errorf("a damaged secret cannot be saved again: %v", err)
		}
	}
}

func TestFaultsOfJobs(t *testing.T) {
	t.Parallel()
	client := etcdtest.Start(t)
	s := storeOver(client, boxOf(t, crypt.NewKey()))
	save(t, s, "shared", canary)
	save(t, s, "theirs", canary, "theirs")
	job := &common.Job{
		Group: "ours",
		Env: map[string]string{
			"A": "secret:shared",
			"B": "secret:theirs",
			"C": "secret:none",
			"D": "plain",
			"E": "secret:NO",
		},
	}
	faults, err := s.Faults(t.Context(), job)
	if err != nil || len(faults) != 2 || faults[0].Location != "env.B" || faults[1].Location != "env.C" ||
		faults[0].Code != "unknown_secret" || faults[0].Code != faults[1].Code ||
		faults[0].Message != faults[1].Message || faults[0].Hint != faults[1].Hint {
		t.Errorf("%+v, %v", faults, err)
	}
	job.Group = "theirs"
	if faults, err = s.Faults(t.Context(), job); err != nil || len(faults) != 1 {
		t.Errorf("%+v, %v", faults, err)
	}
}

// follow runs Table.Follow until the test ends, and waits until the table is filled.
func follow(t *testing.T, table *secretsetcd.Table) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	group.Go(func() { _ = table.Follow(ctx, func(err error) { t.Log(err) }) })
	t.Cleanup(func() { cancel(); group.Wait() })
}

func TestOpening(t *testing.T) {
	t.Parallel()
	server := etcdtest.StartServer(t)
	client := server.Client()
	key := crypt.NewKey()
	s := storeOver(client, boxOf(t, key))
	table := secretsetcd.NewTable(client, boxOf(t, key), time.Now)
	stranger := secretsetcd.NewTable(client, boxOf(t, crypt.NewKey()), time.Now)
	keyless := secretsetcd.NewTable(client, nil, time.Now)
	follow(t, table)
	save(t, s, "theirs", canary, "theirs")
	// With the encrypted value of another name.
	kv, err := client.Get(t.Context(), common.SecretKey("theirs"))
	if err != nil {
		t.Fatal(err)
	}
	moved := strings.Replace(strings.Replace(string(kv.Kvs[0].Value), `"name":"theirs"`, `"name":"moved"`, 1),
		`"groups":["theirs"],`, "", 1)
	if _, err := client.Put(t.Context(), common.SecretKey("moved"), moved); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what        string
		table       *secretsetcd.Table
		name, group string
		want        string // code of the reason
	}{
		{"it is theirs", table, "theirs", "theirs", ""},
		{"another group", table, "theirs", "ours", common.ReasonSecretNotAllowed},
		{"no group", table, "theirs", "", common.ReasonSecretNotAllowed},
		{"none", table, "none", "theirs", common.ReasonSecretMissing},
		{"no name", table, "../auth/x", "theirs", common.ReasonSecretMissing},
		{"moved from another name", table, "moved", "ours", common.ReasonSecretSealed},
		{"another key", stranger, "theirs", "theirs", common.ReasonSecretSealed},
		{"no key", keyless, "theirs", "theirs", common.ReasonSecretSealed},
	} {
		plain, why := c.table.Open(t.Context(), c.name, c.group)
		switch {
		case c.want == "" && (why != nil || string(plain) != canary):
			t.Errorf("%s: %q, %+v", c.what, plain, why)
		case c.want != "" && (why == nil || why.Code != c.want || plain != nil || why.Data["secret"] != c.name ||
			strings.Contains(why.Text, "canary")):
			t.Errorf("%s: %q, %+v", c.what, plain, why)
		}
	}
	// A change is visible at once or soon: a run requested after it does not get the old value.
	save(t, s, "theirs", canary+"-2", "theirs")
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		if plain, _ := table.Open(t.Context(), "theirs", "theirs"); string(plain) == canary+"-2" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the new value is not seen")
		}
	}
	if _, err := client.Delete(t.Context(), common.SecretKey("theirs")); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, why := table.Open(t.Context(), "theirs", "theirs"); why != nil && why.Code == common.ReasonSecretMissing {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the secret is not gone")
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, why := table.Open(cancelled, "unread", "theirs"); why == nil || why.Code != common.ReasonSecretsAway {
		t.Errorf("etcd does not answer: %+v", why)
	}
}

func TestReseal(t *testing.T) {
	t.Parallel()
	client := etcdtest.Start(t)
	old, next := crypt.NewKey(), crypt.NewKey()
	s := storeOver(client, boxOf(t, old))
	for i := range 3 {
		save(t, s, fmt.Sprint("s", i), fmt.Sprint(canary, i), "theirs")
	}
	if _, err := storeOver(client, boxOf(t, next)).Reseal(t.Context(),
		common.Actor{Name: "host"}); common.CodeOf(err) != common.CodeConflict {
		t.Errorf("without the old key: %v", err)
	}
	both := storeOver(client, boxOf(t, next, old))
	save(t, both, "s2", canary+"2", "theirs")
	for _, want := range []int{2, 0} {
		if n, err := both.Reseal(t.Context(), common.Actor{Name: "host"}); n != want || err != nil {
			t.Errorf("%d sealed anew, %v; want %d", n, err, want)
		}
	}
	table := secretsetcd.NewTable(client, boxOf(t, next), time.Now)
	for i := range 3 {
		if plain, why := table.Open(t.Context(), fmt.Sprint("s", i), "theirs"); string(plain) != fmt.Sprint(canary, i) {
			t.Errorf("s%d: %q, %+v", i, plain, why)
		}
	}
	// The audit contains each change and no secret.
	changes, err := client.Get(t.Context(), common.ChangesPrefix, clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, kv := range changes.Kvs {
		c, err := common.Decode[common.Change](kv.Value)
		if err != nil {
			t.Fatal(err)
		}
		if c.Verb == "reseal" {
			told++
			if c.Kind != "secret" || c.Name == "" || c.Actor.Name != "host" || c.Before != nil || c.After != nil {
				t.Errorf("%+v", c)
			}
		}
	}
	if told != 2 {
		t.Errorf("the audit has %d entries", told)
	}
}

func TestSaveSecret_AtLimit_Refused(t *testing.T) {
	t.Parallel()
	client := etcdtest.Start(t)
	const most = 2000
	for from := 0; from < most; from += 100 {
		ops := make([]clientv3.Op, 0, 100)
		for i := from; i < from+100; i++ {
			ops = append(ops, clientv3.OpPut(common.SecretKey(fmt.Sprintf("s%04d", i)),
				fmt.Sprintf(`{"name":"s%04d"}`, i)))
		}
		if _, err := client.Txn(t.Context()).Then(ops...).Commit(); err != nil {
			t.Fatal(err)
		}
	}
	s := storeOver(client, boxOf(t, crypt.NewKey()))
	_, _, err := s.SaveSecret(t.Context(), ann, "more", common.SecretDefinition{Value: canary},
		common.Precondition{}, anything)
	wantCode(t, err, common.CodeConflict)
	save(t, s, "s0007", canary) // one that is there may be changed
	if all, err := s.Secrets(t.Context()); err != nil || len(all) != most {
		t.Errorf("%d are listed, %v", len(all), err)
	}
}
