package jobs

import (
	"context"
	"encoding/json"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/view"
	"carillon/internal/jobmgr/diff"
)

// JobVersion is a version of a job.
type JobVersion struct {
	Version int64     `json:"version" doc:"The version created by the change."`
	Number  int64     `json:"number,omitempty" doc:"Number of the version in the life of the job, from 1; absent if it is unknown, for old versions. A deletion counts as well; a job that is created again begins at 1."`
	At      time.Time `json:"at"`
	By      string    `json:"by,omitempty" doc:"Who made the change."`
	Remote  string    `json:"remote,omitempty" doc:"Client address."`
	Note    string    `json:"note,omitempty" doc:"Reason given, or the note of a pause."`
	Fields  []string  `json:"fields,omitempty" nullable:"false" doc:"In lists: the fields that differ from the previous version; absent for the first one, and if you may not see the previous one."`
	Verb    string    `json:"verb" enum:"create,replace,patch,rollback,pause,resume,inherit,delete" doc:"Kind of change; inherit: defaults were changed. If a job was deleted and created again, the versions of both are listed."`
}

// VersionOfJob is a version with the definition.
type VersionOfJob struct {
	JobVersion
	UID string           `json:"uid,omitempty" doc:"Distinguishes the job from earlier jobs of the same name."`
	Job *view.Definition `json:"job,omitempty" doc:"The definition; absent for a deletion."`

	Inherited []common.Inheritance `json:"inherited,omitempty" nullable:"false" doc:"What it inherited then."`

	effective *common.Job
}

// Verbs of changes that create a version.
var versionVerbs = []string{"create", "replace", "patch", "rollback", "pause", "resume", "inherit", "delete"}

type versionListInput struct {
	view.JobPath
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"Maximum number of items."`
	Cursor string `query:"cursor" maxLength:"1024" doc:"nextCursor of the previous page."`
}

type versionInput struct {
	view.JobPath
	Version int64 `path:"version" minimum:"1" doc:"The version."`
}

func (s *Resource) listVersions(ctx context.Context, in *versionListInput) (*core.Body[core.HistoryPage[JobVersion]],
	error) {
	list := "versions of " + in.Name
	before, err := core.ReadCursor[string](list, in.Cursor)
	if err != nil {
		return nil, err
	}
	found, partial, err := s.Changes.Of(ctx, "job", in.Name, versionVerbs, before, in.Limit+1)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && before == "" && !partial {
		return nil, common.Errorf(common.CodeNotFound, "job %q not found, and no versions of it", in.Name)
	}
	if err := s.present(ctx, in.Name); err != nil {
		return nil, err
	}
	if len(found) > 0 && before == "" {
		if err := core.Allow(ctx, access.Viewer, groupThen(&found[0])); err != nil {
			return nil, err
		}
	}
	numbers := s.numbers(ctx, in.Name, found) // the one after the page may be the neighbour that has a number
	found, next, err := core.Take(list, found, in.Limit, func(c *common.Change) string { return c.ID })
	if err != nil {
		return nil, err
	}
	items := make([]JobVersion, 0, len(found))
	for i := range found {
		if core.May(ctx, access.Viewer, groupThen(&found[i])) { // otherwise the change was made in another group
			version := versionOf(&found[i])
			version.Number = numbers[i]
			version.Fields = changed(ctx, &found[i])
			items = append(items, version)
		}
	}
	return core.Reply(core.NewHistoryPage(items, next, partial))
}

func versionOf(c *common.Change) JobVersion {
	v := JobVersion{
		Version: c.Revision,
		At:      c.At,
		By:      c.Actor.Name,
		Remote:  c.Actor.Remote,
		Note:    c.Actor.Note,
		Verb:    c.Verb,
	}
	if v.Note == "" && v.Verb == "pause" {
		if job := storedIn(c.After); job != nil {
			v.Note = job.PauseNote
		}
	}
	return v
}

// changed returns the fields that a change has modified, if the caller may see both sides.
func changed(ctx context.Context, c *common.Change) []string {
	before, after := storedIn(c.Before), storedIn(c.After)
	if before == nil || after == nil || !core.May(ctx, access.Viewer, before.Group) {
		return nil
	}
	fields, err := diff.StoredFields(before, after)
	if err != nil {
		return nil
	}
	return fields
}

// place is where a version stands: in the life of which job, and at which position.
type place struct {
	uid    string
	number int64 // 0: unknown
}

// placeOf returns the stored place of a version. A creation is always the first.
func placeOf(c *common.Change) place {
	side := c.After
	if c.Verb == "delete" {
		side = c.Before
	}
	var stored struct {
		UID    string
		Number int64
	}
	if json.Unmarshal(side, &stored) != nil {
		return place{}
	}
	switch {
	case c.Verb == "create":
		stored.Number = 1
	case c.Verb == "delete" && stored.Number > 0:
		stored.Number++
	}
	return place{uid: stored.UID, number: stored.Number}
}

// numbers returns the numbers of versions, newest first. A version that an older master wrote has none stored: it
// follows from the neighbours in the life of the same job, or from the current version.
func (s *Resource) numbers(ctx context.Context, name string, found []common.Change) []int64 {
	places := make([]place, len(found))
	unknown := false
	for i := range found {
		places[i] = placeOf(&found[i])
		unknown = unknown || places[i].number == 0
	}
	if unknown {
		if state, err := s.Jobs.Get(ctx, name); err == nil {
			for i := range found {
				if p := &places[i]; p.number == 0 && p.uid == state.UID && found[i].Revision == state.Version {
					p.number = state.Number
				}
			}
		}
		next := func(i, from int, by int64) {
			p, of := &places[i], places[from]
			if p.number == 0 && p.uid != "" && p.uid == of.uid && of.number+by > 0 && of.number > 0 {
				p.number = of.number + by
			}
		}
		for i := 1; i < len(places); i++ {
			next(i, i-1, -1)
		}
		for i := len(places) - 2; i >= 0; i-- {
			next(i, i+1, 1)
		}
	}
	numbers := make([]int64, len(places))
	for i := range places {
		numbers[i] = places[i].number
	}
	return numbers
}

// Limits of the search for a version.
const (
	versionsPerRead = 100
	versionReads    = 20
)

// version searches for the version from the newest on. Changes are ordered by the clocks of their
// authors, versions are not: the search continues one read beyond the expected position.
func (s *Resource) version(ctx context.Context, in *versionInput) (*core.Body[VersionOfJob], error) {
	before, passed := "", false
	for range versionReads {
		found, partial, err := s.Changes.Of(ctx, "job", in.Name, versionVerbs, before, versionsPerRead)
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
			return s.versionAnswer(ctx, &found[i], s.numbers(ctx, in.Name, found)[i])
		}
		if partial {
			return nil, common.Errorf(common.CodeUnavailable, "the log store does not respond").
				WithReason("log_store_away").WithHint("retry in a few seconds")
		}
		if passed || len(found) < versionsPerRead {
			break
		}
		last := &found[len(found)-1]
		before, passed = last.ID, last.Revision < in.Version
	}
	return nil, common.Errorf(common.CodeNotFound, "job %q has no known version %d", in.Name, in.Version)
}

// allowed returns an error if the caller may not see a version: this requires a role in the group
// that the job had then, and in its current group.
func (s *Resource) allowed(ctx context.Context, name string, c *common.Change) error {
	if err := s.present(ctx, name); err != nil {
		return err
	}
	return core.Allow(ctx, access.Viewer, groupThen(c))
}

// present returns an error if the caller has no role in the job's current group, if the job exists.
func (s *Resource) present(ctx context.Context, name string) error {
	if core.May(ctx, access.Viewer, "") {
		return nil
	}
	uid, group, err := view.Standing(ctx, s.Jobs, name)
	if err != nil || uid == "" {
		return err
	}
	return core.Allow(ctx, access.Viewer, group)
}

// groupThen returns the group of a job after a change, or before its deletion. Unreadable ones are
// visible to callers with access to all groups.
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

func (s *Resource) versionAnswer(ctx context.Context, c *common.Change,
	number int64) (*core.Body[VersionOfJob], error) {
	out := &core.Body[VersionOfJob]{Body: VersionOfJob{JobVersion: versionOf(c)}}
	out.Body.Number = number
	if len(c.After) == 0 || string(c.After) == "null" {
		return out, nil
	}
	var stored common.StoredJob
	if err := json.Unmarshal(c.After, &stored); err != nil {
		return nil, common.Errorf(common.CodeConflict, "this version cannot be read").WithReason("version_unreadable").
			WithCause(err).WithHint("upgrade this master: the version was written by a newer one")
	}
	if err := s.complete(ctx, &stored); err != nil {
		return nil, err
	}
	own, inherited := stored.Own()
	out.Body.UID, out.Body.Job, out.Body.Inherited = stored.UID, new(view.Definition(own)), inherited
	out.Body.effective = &stored.Job
	return out, nil
}
