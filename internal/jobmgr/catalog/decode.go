package catalog

import (
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"carillon/internal/common"
)

// Decode reads a job and its cursor. A job without a cursor is an error: its plan would have no beginning.
func Decode(job, cursor *mvccpb.KeyValue) (common.JobState, error) {
	stored, err := decodeStored(job)
	if err != nil {
		return common.JobState{}, err
	}
	return withCursor(stored, job, cursor)
}

func decodeStored(job *mvccpb.KeyValue) (common.StoredJob, error) {
	stored, err := common.Decode[common.StoredJob](job.Value)
	if err != nil {
		return stored, fmt.Errorf("decode %s: %w", job.Key, err)
	}
	if key := common.JobKey(stored.Name); key != string(job.Key) {
		return stored, fmt.Errorf("%s holds a job of another name", job.Key)
	}
	return stored, nil
}

func withCursor(stored common.StoredJob, job, cursor *mvccpb.KeyValue) (common.JobState, error) {
	if cursor == nil {
		return common.JobState{}, fmt.Errorf("%s has no cursor", job.Key)
	}
	at, err := common.ParseTimeKey(string(cursor.Value))
	if err != nil {
		return common.JobState{}, fmt.Errorf("decode %s: %w", cursor.Key, err)
	}
	if stored.Number == 0 {
		stored.Number = job.Version
	}
	return common.JobState{StoredJob: stored, Version: job.ModRevision, Created: job.CreateRevision, Cursor: at}, nil
}
