package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"carillon/internal/access"
	"carillon/internal/apiclient"
	"carillon/internal/common"
	"carillon/internal/jobmgr/crontab"
)

// step is the planned operation for one line.
type step struct {
	job     common.Job
	done    *remark // receives the result of the step
	after   string  // that result
	version int64   // of the job that is replaced; 0 creates
}

// remark is a line of the report.
type remark struct {
	line int
	what string
	text string
}

// fileReport is the report on one file.
type fileReport struct {
	source  *source
	remarks []*remark
}

// planImport has the server validate each entry, and plans the operations.
func (m *importer) planImport(ctx context.Context, api *apiclient.API, namer *crontab.Namer, s *source,
	r *crontab.Result) (fileReport, error) {
	report := fileReport{source: s}
	say := func(line int, what, text string) *remark {
		x := &remark{line, what, text}
		report.remarks = append(report.remarks, x)
		return x
	}
	for _, n := range r.Notices {
		say(n.Line, string(n.Level), n.Text)
	}
	entries := r.Entries
	if m.merge {
		entries = crontab.Merge(entries)
	}
	for i := range entries {
		e := &entries[i]
		if m.noMail {
			e.MailTo = nil
		}
		if err := namer.Name(e); err != nil {
			return report, err
		}
		for _, line := range e.Lines[min(1, len(e.Lines)):] {
			say(line, "merged", fmt.Sprintf("with line %d", e.Line))
		}
		if len(e.Superseded) > 0 {
			say(e.Line, string(crontab.Note), "delete the jobs that were imported from these lines before: "+
				strings.Join(e.Superseded, ", "))
		}
		if note := m.mail(e); note != "" {
			say(e.Line, "mail", note)
		}
		if m.notify != "" && (e.MailTo == nil || *e.MailTo != "") {
			e.Job.Notify = &common.Notify{
				On: []common.Event{common.EventFailed, common.EventMissed, common.EventLost},
				To: []string{m.notify},
			}
		}
		data, err := json.Marshal(e.Job)
		if err != nil {
			return report, err
		}
		v, err := validate(ctx, api, data)
		if err != nil {
			return report, within(fmt.Sprintf("%s, line %d", s.file, e.Line), err)
		}
		for _, f := range v.Faults {
			m.faults++
			say(e.Line, string(crontab.Fault), f.Location+": "+f.Message)
		}
		if len(v.Faults) > 0 {
			continue
		}
		e.Record(&v.Job)
		p, err := m.compare(ctx, api, e, &v.Job)
		if err != nil {
			return report, err
		}
		text := e.Job.Name + "  " + timesOf(&e.Job) + "  " + cut(e.Job.Command, 60)
		if p.why != "" {
			text += "  (" + p.why + ")"
		}
		x := say(e.Line, p.what, text)
		if e.Job.User != "" {
			m.users[e.Job.User] = true
		}
		if done := afterStep[p.what]; done != "" {
			m.planned = append(m.planned, step{job: p.job, done: x, after: done, version: p.version})
		}
	}
	slices.SortStableFunc(report.remarks, func(a, b *remark) int { return cmp.Compare(a.line, b.line) })
	return report, nil
}

// Planned operations, as the report names them.
const (
	stepCreate    = "to create"
	stepUpdate    = "to update"
	stepOverwrite = "to overwrite"
	stepSame      = "unchanged"
	stepEdited    = "edited"
	stepConflict  = "conflict"
)

// afterStep names the operations that write when they are done.
var afterStep = map[string]string{
	stepCreate:    "created",
	stepUpdate:    "updated",
	stepOverwrite: "overwritten",
}

// namer returns the names of jobs that were imported before, by their lines, and asks the server for other ones. A job
// that the caller may not edit is not that of a line: its editors could have given it the label of any.
func (m *importer) namer(ctx context.Context, api *apiclient.API) (*crontab.Namer, error) {
	n := &crontab.Namer{Imported: map[string]string{}, Taken: func(name string) (bool, error) {
		_, err := apiclient.Decode[job](api.GetJob(ctx, name))
		switch common.CodeOf(err) {
		case common.CodeNotFound:
			return false, nil
		case common.CodeUnauthenticated, common.CodeUnavailable:
			return false, err
		}
		return true, nil
	}}
	who, err := apiclient.Decode[struct {
		Role   access.Role            `json:"role"`
		Groups map[string]access.Role `json:"groups"`
	}](api.Me(ctx))
	if err != nil {
		return nil, err
	}
	me := access.Identity{Role: who.Role, Grants: who.Groups}
	all, err := some((*client).ListJobs).pages(ctx, api, "", url.Values{"selector": {crontab.LineLabel}}, 0)
	if err != nil {
		return nil, err
	}
	for _, item := range all.Items {
		var j job
		if err := json.Unmarshal(item, &j); err != nil {
			return nil, err
		}
		if key := crontab.Key(j.Labels); key != "" && me.May(access.Editor, j.Group) {
			n.Imported[key] = j.Name
		}
	}
	return n, nil
}

// planned is the operation for an entry.
type planned struct {
	what    string
	why     string     // what was edited, and where
	job     common.Job // to write
	version int64      // of the job that is replaced
}

// compare plans the operation for an entry. wanted is its job as the server would store it. What was edited in the
// crontab alone is updated, so that other settings of the job stay.
func (m *importer) compare(ctx context.Context, api *apiclient.API, e *crontab.Entry, wanted *common.Job) (planned,
	error) {
	there, err := apiclient.Decode[job](api.GetJob(ctx, wanted.Name))
	if err != nil {
		if common.CodeOf(err) == common.CodeNotFound {
			m.created++
			return planned{what: stepCreate, job: e.Job}, nil
		}
		return planned{}, err
	}
	plain, before := unrecorded(&there.own), e.AsBefore(*wanted)
	if reflect.DeepEqual(plain, unrecorded(wanted)) || e.Imported && reflect.DeepEqual(plain, unrecorded(&before)) {
		m.same++
		return planned{what: stepSame}, nil
	}
	edits := e.Compare(&there.own, wanted)
	p := planned{what: stepEdited, why: explain(&edits), job: e.Job, version: there.Meta.Version}
	switch inCrontab := len(edits.Crontab) > 0; {
	case m.overwrite:
		p.what = stepOverwrite
		m.overwritten++
	case len(edits.Both) > 0, len(edits.Unknown) > 0:
		p.what = stepConflict
		m.conflicts++
	case inCrontab && there.Group != wanted.Group:
		p.what, p.why = stepConflict, p.why+"; the job is in the group "+cmp.Or(there.Group, "without a name")
		m.conflicts++
	case inCrontab:
		p.what, p.job = stepUpdate, edits.Updated()
		m.updated++
	default:
		m.different++
	}
	return p, nil
}

// unrecorded returns a job without the label of its imported parts.
func unrecorded(j *common.Job) common.Job {
	plain := *j
	plain.Labels = maps.Clone(j.Labels)
	delete(plain.Labels, crontab.ImportLabel)
	return plain
}

// explain says which parts were edited, and where.
func explain(edits *crontab.Edits) string {
	var all []string
	for _, one := range []struct {
		where string
		parts []string
	}{
		{"edited in the crontab", edits.Crontab},
		{"edited in Carillon", edits.Job},
		{"edited in the crontab and in Carillon", edits.Both},
		{"differs from its line, and it is not known which of them was edited", edits.Unknown},
	} {
		if len(one.parts) > 0 {
			all = append(all, one.where+": "+strings.Join(one.parts, ", "))
		}
	}
	return cmp.Or(strings.Join(all, "; "), "edited in Carillon: settings that a crontab does not have")
}

// write performs the planned operations. The server refuses jobs that changed since.
func (m *importer) write(ctx context.Context, api *apiclient.API) error {
	if err := m.createChannels(ctx, api); err != nil {
		return err
	}
	for _, s := range m.planned {
		data, err := json.Marshal(s.job)
		if err != nil {
			return err
		}
		if s.version == 0 {
			_, err = apiclient.Read(api.CreateJobWithBody(ctx, nil, jsonType, bytes.NewReader(data)))
		} else {
			_, err = apiclient.Read(api.PutJobWithBody(ctx, s.job.Name,
				&apiclient.PutJobParams{IfMatch: tag(s.version)}, jsonType, bytes.NewReader(data)))
		}
		if err != nil {
			s.done.what = "failed"
			return within(s.job.Name, err)
		}
		s.done.what = s.after
	}
	return nil
}

func (r *fileReport) print(m *importer) {
	format := "user format"
	if r.source.system {
		format = "system format"
	}
	home := ""
	switch {
	case m.keepUsers && m.keepHome:
		home = ", commands start in the home of their user"
	case m.home != "":
		home = ", commands start in " + m.home
	}
	fmt.Fprintf(m.c.stdout, "%s (%s, time zone %s from %s%s)\n", r.source.file, format, m.zone, m.zoneFrom, home)
	var t table
	for _, x := range r.remarks {
		line := fmt.Sprintf("  line %d", x.line)
		if x.line == 0 {
			line = "  file"
		}
		t.row(line, x.what, x.text)
	}
	_ = t.print(m.c.stdout) // a broken pipe shows on the next write
}
