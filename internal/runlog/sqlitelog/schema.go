package sqlitelog

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"

	"carillon/internal/common"
	"carillon/internal/runlog/entry"
)

// steps returns the changes of the schema, oldest first; PRAGMA user_version counts those that a file has
// had. A released step is never edited.
func steps() []step {
	return []step{{text: schema1}, {text: schema2}, {text: schema3}, {text: schema4, then: readChanges},
		{text: schema5}, {text: schema6}, {text: schema7}, {text: schema8}}
}

// step is SQL, and a function for what SQL cannot do.
type step struct {
	text string
	then func(ctx context.Context, tx *sql.Tx) error
}

// Runs and changes are kept as complete documents, so that a new field needs no column unless it is a filter.
// Each index ends with (planned, id), the order of every list, so that a page is read in order from one
// position and never sorted.
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

// The id of a run begins with its job's uid. Each batch therefore writes an index of the ids at random
// positions, a page for each run; an index that begins with the part after the uid, the planned time, is
// written at its end.
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

// There are few late ends: one for each lost run that ended on its worker.
const schema3 = `
CREATE TABLE late (
	run TEXT NOT NULL PRIMARY KEY,
	doc TEXT NOT NULL -- the late end as JSON
) STRICT;
`

// tailOfID is the part after the uid in a run's id; the complete id if it has no dot.
const tailOfID = "substr(id, instr(id, '.') + 1)"

// A run is a narrow row with its filters, and a document beside it. Rows are in the order of the lists, so
// the newest are found without any index; texts that many of them share are numbers. Each index begins with
// one filter, continues in the order of the lists, and contains all other filters, so that rows are skipped
// without a look-up. Three of them are partial: they hold the rare values, which excludes runs that
// succeeded, were planned, or ended with exit code 0.
//
// The id of most runs contains their planned time, so that it is found by position; runs_named finds the
// others: triggered ones and gap entries.
//
// A document's number is its order of arrival. Roll-ups contain the runs up to the number in counters; see
// books.
const schema4 = `
CREATE TABLE names (
	id   INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO names (id, name) VALUES (0, ''), (1, 'succeeded'), (2, 'cron');

CREATE TABLE counters (
	name  TEXT NOT NULL PRIMARY KEY,
	value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO counters (name, value) VALUES ('hours', 0), ('days', 0), ('strays', 0), ('checked_hour', 0), ('checked_job', 0), ('checked_chunk', 0);

ALTER TABLE runs RENAME TO runs3;
CREATE TABLE runs (
	planned INTEGER NOT NULL, -- Unix nanoseconds
	id      TEXT NOT NULL,
	n       INTEGER NOT NULL, -- of its document
	named   INTEGER NOT NULL, -- 1 where its place does not follow from the id
	job     INTEGER NOT NULL, -- this and the following: numbers of names
	grp     INTEGER NOT NULL,
	status  INTEGER NOT NULL,
	worker  INTEGER NOT NULL,
	cause   INTEGER NOT NULL,
	exit    INTEGER,
	uid     TEXT NOT NULL,
	PRIMARY KEY (planned, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE docs (
	n   INTEGER PRIMARY KEY,
	doc TEXT NOT NULL -- the run as JSON
) STRICT;
INSERT INTO names (name) SELECT name FROM
	(SELECT job AS name FROM runs3 UNION SELECT grp FROM runs3 UNION SELECT status FROM runs3 UNION SELECT worker FROM runs3 UNION SELECT cause FROM runs3)
	WHERE name NOT IN ('', 'succeeded', 'cron');
INSERT INTO docs (n, doc) SELECT rowid, doc FROM runs3 ORDER BY rowid;
INSERT INTO runs (planned, id, n, named, job, grp, status, worker, cause, exit, uid)
	SELECT planned, id, rowid, NOT (planned >= 0 AND instr(id, '.') > 0 AND substr(` + tailOfID + `, 1, 21) = printf('%020d.', planned)),
		(SELECT names.id FROM names WHERE name = job), (SELECT names.id FROM names WHERE name = grp), (SELECT names.id FROM names WHERE name = status),
		(SELECT names.id FROM names WHERE name = worker), (SELECT names.id FROM names WHERE name = cause), json_extract(doc, '$.exitCode'), job_uid
	FROM runs3 ORDER BY planned, id;
DROP TABLE runs3;
CREATE UNIQUE INDEX runs_named ON runs (id) WHERE named = 1;
CREATE INDEX runs_by_job    ON runs (job, planned, id, grp, status, worker, cause, exit, n);
CREATE INDEX runs_by_group  ON runs (grp, planned, id, job, status, worker, cause, exit, n);
CREATE INDEX runs_by_worker ON runs (worker, planned, id, job, grp, status, cause, exit, n);
CREATE INDEX runs_by_status ON runs (status, planned, id, job, grp, worker, cause, exit, n) WHERE status <> 1;
CREATE INDEX runs_by_cause  ON runs (cause, planned, id, job, grp, status, worker, exit, n) WHERE cause <> 2;
CREATE INDEX runs_by_exit   ON runs (exit, planned, id, job, grp, status, worker, cause, n) WHERE exit <> 0;
UPDATE counters SET value = 1 WHERE name = 'strays' AND EXISTS
	(SELECT 1 FROM runs WHERE named = 1 AND substr(` + tailOfID + `, 1, 21) GLOB '` + digits20 + `.');

CREATE TABLE hours (
	at     INTEGER NOT NULL, -- hours since 1970
	job    INTEGER NOT NULL, -- numbers of names; 0: all jobs
	worker INTEGER NOT NULL,
	cell   BLOB NOT NULL,
	PRIMARY KEY (at, job, worker)
) STRICT, WITHOUT ROWID;
CREATE TABLE days (
	at     INTEGER NOT NULL, -- days since 1970
	job    INTEGER NOT NULL,
	worker INTEGER NOT NULL,
	cell   BLOB NOT NULL,
	PRIMARY KEY (at, job, worker)
) STRICT, WITHOUT ROWID;
-- Up to which time runs of a job were deleted.
CREATE TABLE expired (
	job  INTEGER NOT NULL PRIMARY KEY,
	upto INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

ALTER TABLE changes ADD COLUMN verb TEXT NOT NULL DEFAULT '';
ALTER TABLE changes ADD COLUMN actor TEXT NOT NULL DEFAULT '';
ALTER TABLE changes ADD COLUMN at INTEGER NOT NULL DEFAULT 0; -- Unix nanoseconds
CREATE INDEX changes_by_actor ON changes (actor, id);
CREATE INDEX changes_by_at ON changes (at);
CREATE INDEX changes_by_verb ON changes (verb, id);
`

// A sealed change has its position in the chain beside it. A duplicate position is for the verification to
// find, and not refused by the file.
const schema5 = `
ALTER TABLE changes ADD COLUMN seq INTEGER;
ALTER TABLE changes ADD COLUMN previous TEXT;
ALTER TABLE changes ADD COLUMN hash TEXT;
CREATE INDEX changes_by_seq ON changes (seq) WHERE seq IS NOT NULL;
CREATE INDEX changes_by_kind ON changes (kind, id);
`

// Runs of nodes have the id of their flow run beside them. They are recognised by their own ids, which all indexes
// contain; runs_top is the order of the lists without them.
const schema6 = `
ALTER TABLE runs ADD COLUMN flow TEXT;
CREATE INDEX runs_by_flow ON runs (flow, planned, id, job, grp, status, worker, cause, exit, n) WHERE flow IS NOT NULL;
CREATE INDEX runs_top ON runs (planned, id, job, grp, status, worker, cause, exit, n) WHERE ` + topLevel + `;
`

// The bodies of flows, in parts of at most 256 KiB.
const schema7 = `
CREATE TABLE definitions (
	digest TEXT NOT NULL,
	part   INTEGER NOT NULL,
	data   BLOB NOT NULL,
	PRIMARY KEY (digest, part)
) STRICT;
`

// The samples of runs; see entry.EncodeUsage.
const schema8 = `
CREATE TABLE usage (
	run  TEXT NOT NULL PRIMARY KEY,
	at   INTEGER NOT NULL, -- of the last sample, Unix nanoseconds
	data BLOB NOT NULL
) STRICT;
INSERT INTO counters (name, value) VALUES ('checked_usage', 0);
`

// topLevel holds for runs that are not of nodes of flow runs.
const topLevel = "substr(id, instr(id, '.'), 2) <> '.n'"

const digits20 = "[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]"

// readChanges fills the columns of changes that the fourth step added.
func readChanges(ctx context.Context, tx *sql.Tx) error {
	last := ""
	for {
		const atOnce = 1000
		docs, err := collect(ctx, tx, "SELECT doc FROM changes WHERE id > ? ORDER BY id LIMIT ?",
			[]any{last, atOnce}, text)
		if err != nil {
			return err
		}
		for _, doc := range docs {
			c, err := entry.DecodeChange(doc, nil, nil)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "UPDATE changes SET verb = ?, actor = ?, at = ? WHERE id = ?",
				c.Verb, c.Actor.Name, entry.Nanos(c.At), c.ID); err != nil {
				return err
			}
			last = c.ID
		}
		if len(docs) < atOnce {
			return nil
		}
	}
}

// room is the state of the disk of a file.
type room struct {
	size int64 // of the file
	free int64
}

// migratedRun estimates what a migration writes for each run beside its document: rows, entries of indexes
// and free pages. All of it is in the WAL before it is in the file.
const migratedRun = 1000

// migratedChange and migratedIndex estimate what it writes for each change and each run, once runs have the present
// layout.
const (
	migratedChange = 300
	migratedIndex  = 250
)

// needed returns the maximum size of a migration from a version on the disk.
func needed(ctx context.Context, tx *sql.Tx, version int) (runs, bytes int64, err error) {
	if version >= 4 { // the fourth step was the last that copied runs
		var changes int64
		err = tx.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM changes)").Scan(&runs,
			&changes)
		return runs, migratedIndex*runs + migratedChange*changes, err
	}
	err = tx.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(octet_length(doc)), 0) FROM runs").Scan(&runs, &bytes)
	return runs, 2*bytes + migratedRun*runs, err
}

// migrate brings a file to the newest schema, all steps in one transaction, and returns its previous version.
// With many runs it takes minutes and much disk space: it logs this first, or returns an error.
func migrate(ctx context.Context, db *sql.DB, disk func() (room, error), log *slog.Logger) (version int, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // nothing to undo after the commit
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, err
	}
	all := steps()
	switch {
	case version > len(all):
		return version, &common.Error{
			Code: common.CodeConflict,
			Message: fmt.Sprintf("the run log has schema version %d, this program knows versions up to %d",
				version, len(all)),
			Hint: "a newer Carillon wrote this file; run that version, or restore a backup made before the upgrade",
		}
	case version == len(all):
		return version, nil
	case version > 0:
		is, err := disk()
		if err != nil {
			return version, fmt.Errorf("read the free space: %w", err)
		}
		runs, need, err := needed(ctx, tx, version)
		if err != nil {
			return version, err
		}
		if version < 2 {
			need *= 2 // the second step copies all runs as well
		}
		if need > is.free {
			return version, &common.Error{
				Code: common.CodeUnavailable,
				Message: fmt.Sprintf("the run log cannot be migrated to schema version %d: this needs up to %d MiB "+
					"of its disk, and %d MiB are free",
					len(all), need>>20+1, is.free>>20),
				Hint: "nothing was changed: free space, or move the data folder to a larger disk",
			}
		}
		log.Info("run_log_migration_begins", "from", version, "to", len(all), "runs", runs, "size_bytes", is.size,
			"needs_bytes", need, "free_bytes", is.free)
	}
	for _, step := range all[version:] {
		if _, err := tx.ExecContext(ctx, step.text); err != nil {
			return version, err
		}
		if step.then != nil {
			if err := step.then(ctx, tx); err != nil {
				return version, err
			}
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(all))); err != nil {
		return version, err
	}
	return version, tx.Commit()
}
