package joblock_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/joblock"
)

// The outboxes of all processes count, however different their entries are, and what has gone
// does not.
func TestLoadCountsAllOutboxes(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	size := int64(0)
	put := func(owner string, n, weight int) {
		t.Helper()
		for i := range n {
			key, value := common.OutboxKey(owner, fmt.Sprintf("run%05d", i)), strings.Repeat("x", weight)
			if _, err := client.Put(t.Context(), key, value); err != nil {
				t.Fatal(err)
			}
			size += int64(len(key) + len(value))
		}
	}
	measure := func() int64 {
		ctx, cancel := context.WithCancel(t.Context())
		load, ended := joblock.NewLoad(client, func() int { return 1 }, func(err error) {
			if err != nil {
				t.Error(err)
			}
		}, func(string, int) {}), make(chan error)
		go func() { ended <- load.Run(ctx) }()
		for end := time.Now().Add(30 * time.Second); load.Bytes() == 0 && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		return load.Bytes()
	}
	put("alive", 30, 900)
	put("dead", 20, 500)
	put(common.MasterOutbox, 40, 700)
	if got := measure(); got != size {
		t.Errorf("they hold %d bytes, measured as %d", size, got)
	}
	put("zebra", 400, 800)
	if got := measure(); got < size*3/4 || got > size*5/4 {
		t.Errorf("they hold %d bytes, measured as %d", size, got)
	}
}
