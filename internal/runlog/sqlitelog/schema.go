package sqlitelog

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"carillon/internal/common"
)

// steps are the changes of the schema, oldest first; PRAGMA user_version counts
// those that a file has had. A step that was released is never edited.
func steps() []string { return []string{schema1, schema2, schema3} }

// Runs and changes are kept as whole documents, so that a field that is added
// later needs no column unless something is to be found by it. Each index ends
// with (planned, id), the order of every list, so that a page is read in order
// from one place and never sorted.
const schema1 = `
CREATE TABLE runs (
	id      TEXT NOT NULL PRIMARY KEY,
	planned INTEGER NOT NULL, -- Unix nanoseconds
	job     TEXT NOT NULL,
	job_uid TEXT NOT NULL,
	grp     TEXT NOT NULL,
	status  TEXT NOT NULL,
	worker  TEXT NOT NULL,
	cause   TEXT NOT NULL,
	doc     TEXT NOT NULL     -- the run as JSON
) STRICT;
CREATE INDEX runs_by_time   ON runs (planned, id);
CREATE INDEX runs_by_job    ON runs (job, planned, id);
CREATE INDEX runs_by_status ON runs (status, planned, id);
CREATE INDEX runs_by_worker ON runs (worker, planned, id);

CREATE TABLE chunks (
	run     TEXT NOT NULL,
	off     INTEGER NOT NULL,
	stream  TEXT NOT NULL,
	ends    INTEGER NOT NULL, -- the offset after the chunk
	at      INTEGER NOT NULL, -- Unix nanoseconds
	missing INTEGER NOT NULL,
	data    BLOB NOT NULL,
	PRIMARY KEY (run, off, stream)
) STRICT;
CREATE INDEX chunks_missing ON chunks (run, off, stream) WHERE missing > 0;

CREATE TABLE changes (
	id     TEXT NOT NULL PRIMARY KEY,
	kind   TEXT NOT NULL,
	name   TEXT NOT NULL,
	doc    TEXT NOT NULL,     -- the change as JSON, without its sides
	before BLOB,
	after  BLOB
) STRICT;
CREATE INDEX changes_by_name ON changes (kind, name, id);
`

// The id of a run begins with its job's uid. An index of the ids themselves is thus
// written all over with each batch, a page for each run; one that begins with what
// comes after the uid, the planned time, is written at its end.
const schema2 = `
ALTER TABLE runs RENAME TO runs1;
CREATE TABLE runs (
	id      TEXT NOT NULL,
	planned INTEGER NOT NULL,
	job     TEXT NOT NULL,
	job_uid TEXT NOT NULL,
	grp     TEXT NOT NULL,
	status  TEXT NOT NULL,
	worker  TEXT NOT NULL,
	cause   TEXT NOT NULL,
	doc     TEXT NOT NULL
) STRICT;
INSERT INTO runs (id, planned, job, job_uid, grp, status, worker, cause, doc)
	SELECT id, planned, job, job_uid, grp, status, worker, cause, doc FROM runs1 ORDER BY planned, id;
DROP TABLE runs1;
CREATE UNIQUE INDEX runs_by_id ON runs (` + tailOfID + `, id);
CREATE INDEX runs_by_time   ON runs (planned, id);
CREATE INDEX runs_by_job    ON runs (job, planned, id);
CREATE INDEX runs_by_status ON runs (status, planned, id);
CREATE INDEX runs_by_worker ON runs (worker, planned, id);
`

// There are few late ends: one for a run that was lost, and came to an end all the same.
const schema3 = `
CREATE TABLE late (
	run TEXT NOT NULL PRIMARY KEY,
	doc TEXT NOT NULL -- the late end as JSON
) STRICT;
`

// tailOfID is what comes after the uid in a run's id, as tail gives it; all of it
// where there is no dot.
const tailOfID = "substr(id, instr(id, '.') + 1)"

func tail(id string) string { return id[strings.IndexByte(id, '.')+1:] }

// migrate brings a file to the newest schema, all steps in one transaction.
func migrate(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing to undo after the commit
	var version int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	all := steps()
	switch {
	case version > len(all):
		return &common.Error{
			Code:    common.CodeConflict,
			Message: fmt.Sprintf("the run log has schema version %d, this program knows versions up to %d", version, len(all)),
			Hint:    "a newer Carillon wrote this file; run that version, or restore a backup made before the upgrade",
		}
	case version == len(all):
		return nil
	}
	for _, step := range all[version:] {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(all))); err != nil {
		return err
	}
	return tx.Commit()
}
