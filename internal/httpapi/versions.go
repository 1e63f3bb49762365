package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/auth"
	"carillon/internal/common"
	"carillon/internal/jobdiff"
)

type versionsResource struct {
	changes Changes
	jobs    Jobs
}

// JobVersion is what a change made of a job.
type JobVersion struct {
	Version int64     `json:"version" doc:"The job's version from then on."`
	At      time.Time `json:"at"`
	By      string    `json:"by,omitempty" doc:"Who made it."`
	Remote  string    `json:"remote,omitempty" doc:"The address that it came from."`
	Note    string    `json:"note,omitempty" doc:"Why, where they said it; of a pause, its note."`
	Fields  []string  `json:"fields,omitempty" nullable:"false" doc:"In lists: the fields in which it differs from what was before it; absent of the first one, and where you may not see what was."`
	Verb    string    `json:"verb" enum:"create,replace,patch,rollback,pause,resume,delete" doc:"How. A job of this name that was deleted and made again has the versions of both."`
}

// VersionOfJob is a version with what the job said.
type VersionOfJob struct {
	JobVersion
	UID string      `json:"uid,omitempty" doc:"Tells the job from others that had its name."`
	Job *Definition `json:"job,omitempty" doc:"The job as it was from then on; absent where it was deleted."`
}

// The verbs that leave a version.
var versionVerbs = []string{"create", "replace", "patch", "rollback", "pause", "resume", "delete"}

type versionListInput struct {
	JobPath
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"How many to list."`
	Cursor string `query:"cursor" maxLength:"1024" doc:"nextCursor of the page before."`
}

type versionInput struct {
	JobPath
	Version int64 `path:"version" minimum:"1" doc:"The version."`
}

type versionListOutput struct{ Body HistoryPage[JobVersion] }

type jobVersionOutput struct{ Body VersionOfJob }

func (s *versionsResource) register(r *router) {
	op := func(id, path, summary string) huma.Operation {
		return huma.Operation{OperationID: id, Method: http.MethodGet, Path: "/api/v1/jobs/{name}/versions" + path, Summary: summary, Tags: []string{"jobs"}}
	}
	register(r, route{access: needs(auth.Viewer), Operation: op("list-versions", "", "What became of a job's definition, when, and by whom, the newest first")}, s.list)
	register(r, route{access: needs(auth.Viewer), Operation: op("get-job-version", "/{version}", "A job as it was")}, s.get)
	register(r, route{access: needs(auth.Viewer), Operation: op("diff-job-versions", "/{version}/diff", "How a job became another one")}, s.diff)
}

func (s *versionsResource) list(ctx context.Context, in *versionListInput) (*versionListOutput, error) {
	list, before := "versions of "+in.Name, ""
	if in.Cursor != "" {
		var err error
		if before, err = readCursor[string](list, in.Cursor); err != nil {
			return nil, err
		}
	}
	found, partial, err := s.changes.Of(ctx, "job", in.Name, versionVerbs, before, in.Limit+1)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && before == "" && !partial {
		return nil, common.Errorf(common.CodeNotFound, "there is no job %q, and none that was is known", in.Name)
	}
	if err := s.present(ctx, in.Name); err != nil {
		return nil, err
	}
	if len(found) > 0 && before == "" {
		if err := allow(ctx, auth.Viewer, groupThen(&found[0])); err != nil {
			return nil, err
		}
	}
	next := ""
	if len(found) > in.Limit {
		found = found[:in.Limit]
		if next, err = writeCursor(list, found[in.Limit-1].ID); err != nil {
			return nil, err
		}
	}
	items := make([]JobVersion, 0, len(found))
	for i := range found {
		if may(ctx, auth.Viewer, groupThen(&found[i])) { // not what became of it in another group
			version := versionOf(&found[i])
			version.Fields = changed(ctx, &found[i])
			items = append(items, version)
		}
	}
	return &versionListOutput{Body: historyPage(items, next, partial)}, nil
}

func versionOf(c *common.Change) JobVersion {
	v := JobVersion{Version: c.Revision, At: c.At, By: c.Actor.Name, Remote: c.Actor.Remote, Note: c.Actor.Note, Verb: c.Verb}
	if v.Note == "" && v.Verb == "pause" {
		if job := definitionIn(c.After); job != nil {
			v.Note = job.PauseNote
		}
	}
	return v
}

// definitionIn is the job on a side of a change; nil where there is none, or none that can be read.
func definitionIn(side json.RawMessage) *common.Job {
	var stored *common.StoredJob
	if len(side) == 0 || json.Unmarshal(side, &stored) != nil || stored == nil {
		return nil
	}
	return &stored.Job
}

// changed are the fields of a job that a change has touched, where both of its sides may be seen.
func changed(ctx context.Context, c *common.Change) []string {
	before, after := definitionIn(c.Before), definitionIn(c.After)
	if before == nil || after == nil || !may(ctx, auth.Viewer, before.Group) {
		return nil
	}
	fields, err := jobdiff.Fields(before, after)
	if err != nil {
		return nil
	}
	return fields
}

// Bounds of the search for a version.
const (
	versionsPerRead = 100
	versionReads    = 20
)

// get looks for the version from the newest on. Changes are ordered by the clocks of those
// who made them, versions are not: one read further than its place it is not to be found.
func (s *versionsResource) get(ctx context.Context, in *versionInput) (*jobVersionOutput, error) {
	before, passed := "", false
	for range versionReads {
		found, partial, err := s.changes.Of(ctx, "job", in.Name, versionVerbs, before, versionsPerRead)
		if err != nil {
			return nil, err
		}
		for i := range found {
			if found[i].Revision != in.Version {
				continue
			}
			if err := s.allowed(ctx, in.Name, &found[i]); err != nil {
				return nil, err
			}
			return versionAnswer(&found[i])
		}
		if partial {
			return nil, &common.Error{Code: common.CodeUnavailable, Reason: "log_store_away", Message: "the log store does not answer", Hint: "it is tried again every few seconds"}
		}
		if passed || len(found) < versionsPerRead {
			break
		}
		last := &found[len(found)-1]
		before, passed = last.ID, last.Revision < in.Version
	}
	return nil, common.Errorf(common.CodeNotFound, "the job %q has no version %d that is known", in.Name, in.Version)
}

// allowed refuses who may not see a version: they need a role in the group in which the job was
// then, and in the one in which it is.
func (s *versionsResource) allowed(ctx context.Context, name string, c *common.Change) error {
	if err := s.present(ctx, name); err != nil {
		return err
	}
	return allow(ctx, auth.Viewer, groupThen(c))
}

// present refuses who has no role in the group in which a job is, where there is one.
func (s *versionsResource) present(ctx context.Context, name string) error {
	if may(ctx, auth.Viewer, "") {
		return nil
	}
	uid, group, err := standing(ctx, s.jobs, name)
	if err != nil || uid == "" {
		return err
	}
	return allow(ctx, auth.Viewer, group)
}

// groupThen is the group in which a change left a job, or took it away. What cannot be read is for
// those who may see all.
func groupThen(c *common.Change) string {
	side := c.After
	if c.Verb == "delete" {
		side = c.Before
	}
	var then struct{ Group string }
	if json.Unmarshal(side, &then) != nil {
		return ""
	}
	return then.Group
}

func versionAnswer(c *common.Change) (*jobVersionOutput, error) {
	out := &jobVersionOutput{Body: VersionOfJob{JobVersion: versionOf(c)}}
	if len(c.After) == 0 || string(c.After) == "null" {
		return out, nil
	}
	var stored common.StoredJob
	if err := json.Unmarshal(c.After, &stored); err != nil {
		return nil, &common.Error{Code: common.CodeConflict, Reason: "version_unreadable", Message: "this version cannot be read", Hint: "a newer program wrote it", Err: err}
	}
	out.Body.UID, out.Body.Job = stored.UID, new(Definition(stored.Job))
	return out, nil
}
