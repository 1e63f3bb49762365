package election_test

import (
	"errors"
	"testing"

	"carillon/internal/cluster/election"
	"carillon/internal/etcdkit/etcdtest"
)

// The value outlives the term, and only the elected master may write it.
func TestMemo_IsWrittenOnlyByTheElectedMaster(t *testing.T) {
	t.Parallel()
	server := etcdtest.StartServer(t)
	client := server.Client()
	a, b, _ := twoMasters(t, server)

	const key = "/cron/leader/memo"
	ofA, ofB := election.NewMemo[string](a.elector, key), election.NewMemo[string](b.elector, key)
	reads := func(want string) {
		t.Helper()
		if got, err := ofB.Read(t.Context()); err != nil || got != want {
			t.Fatalf("read %q, %v; want %q", got, err, want)
		}
	}
	reads("")
	if err := ofB.Write(t.Context(), "mine"); !errors.Is(err, election.ErrNotElected) {
		t.Fatalf("a master that is not elected wrote: %v", err)
	}
	reads("")
	if err := ofA.Write(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	reads("first")
	a.stop() // its lease ends
	b.elected()
	reads("first")
	if err := ofA.Write(t.Context(), "late"); !errors.Is(err, election.ErrNotElected) {
		t.Fatalf("the earlier master wrote: %v", err)
	}
	if err := ofB.Write(t.Context(), "second"); err != nil {
		t.Fatal(err)
	}
	reads("second")
	if _, err := client.Put(t.Context(), key, "{"); err != nil { // cannot be decoded
		t.Fatal(err)
	}
	reads("")
}
