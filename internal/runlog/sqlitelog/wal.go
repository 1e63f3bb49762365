package sqlitelog

import (
	"context"
	"database/sql"
)

// Writes go to the WAL first, and are copied into the file later: by a goroutine with a connection of its
// own, which no writer waits for, a little at a time, so that the disk is not busy for long. Pages that many
// batches change are copied once.
const (
	copyPages = 2000
	// longPages is the length of the WAL at which the rest of it is copied while no write is in progress; it
	// is reset only when all of it has been copied.
	longPages = 16_000
)

// A checkpointer copies the WAL when it is notified.
type checkpointer struct {
	db   *sql.DB
	tell chan struct{}
	turn chan struct{} // of the writers
	end  context.CancelFunc
	done chan struct{}
}

func newCheckpointer(db *sql.DB, turn chan struct{}) *checkpointer {
	ctx, end := context.WithCancel(context.Background())
	c := &checkpointer{db: db, tell: make(chan struct{}, 1), turn: turn, end: end, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		for {
			select {
			case <-c.tell:
				c.copy(ctx)
			case <-ctx.Done():
				return
			}
		}
	}()
	return c
}

// close ends the goroutine and waits for it.
func (c *checkpointer) close() error {
	c.end()
	<-c.done
	return c.db.Close()
}

// wake notifies the goroutine if there is enough to copy.
func (c *checkpointer) wake(ctx context.Context, db *sql.DB) {
	if length, copied, err := walPages(ctx, db, "NOOP"); err == nil && length-copied < copyPages {
		return
	}
	select {
	case c.tell <- struct{}{}:
	default:
	}
}

// copy copies the WAL as far as possible. Errors are temporary, or affect writers as well; so they are left
// until the next time.
func (c *checkpointer) copy(ctx context.Context) {
	for range 3 { // each leaves the pages written meanwhile: fewer each time
		length, copied, err := walPages(ctx, c.db, "PASSIVE")
		if err != nil || copied == length || length < longPages {
			return
		}
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
		_, _, _ = walPages(ctx, c.db, "PASSIVE") // see above
	case <-ctx.Done():
	}
}

// walPages returns the length of the WAL and how much of it has been copied.
func walPages(ctx context.Context, db *sql.DB, how string) (length, copied int64, err error) {
	var busy int64
	return length, copied, db.QueryRowContext(ctx, "PRAGMA wal_checkpoint("+how+")").Scan(&busy, &length, &copied)
}
