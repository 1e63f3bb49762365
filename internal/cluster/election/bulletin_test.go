package election_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/cluster/election"
	"carillon/internal/etcdkit/etcdtest"
)

// The value of the elected master reaches all masters, and disappears with its lease.
func TestBulletin_IsPublishedAndEndsWithTheLease(t *testing.T) {
	t.Parallel()
	server := etcdtest.StartServer(t)
	client := server.Client()
	a, b, term := twoMasters(t, server)

	const board = "/cron/leader/board"
	hears, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	heard := election.NewBulletin[string](b.elector, board)
	all.Go(func() { _ = heard.Run(hears) })
	hear := func(want string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); heard.Latest() != want; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("the value is %q, want %q", heard.Latest(), want)
			}
		}
	}
	if err := heard.Keep(t.Context(), time.Millisecond, func() {}, func() string {
		return "I am b"
	}); !errors.Is(err, election.ErrNotElected) {
		t.Fatalf("a master that is not elected published: %v", err)
	}
	var news atomic.Value
	news.Store("hello")
	says := election.NewBulletin[string](a.elector, board)
	all.Go(func() {
		_ = says.Keep(term, time.Millisecond, func() {}, func() string { return news.Load().(string) })
	})
	hear("hello")
	news.Store("goodbye")
	hear("goodbye")
	if _, err := client.Put(t.Context(), board, "{"); err != nil { // cannot be decoded
		t.Fatal(err)
	}
	hear("")
	news.Store("still there")
	hear("still there")
	a.kill()
	hear("") // its lease has expired
}
