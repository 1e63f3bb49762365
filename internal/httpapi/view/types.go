package view

import (
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/common"
)

// Definition is what a job's author defines.
type Definition common.Job

// Run is described in place of common.Run, with its outlook.
type Run struct {
	RunFields
	Estimate
	Acknowledged *common.Acknowledgement `json:"acknowledged,omitempty" doc:"Acknowledgement of the failure of its fire, when a single run is read."`

	Last *LastAttempt `json:"last,omitempty" doc:"Of a failed run that was repeated: the last attempt of its fire, which decides the outcome. In a single run, in results of a search, and in lists on request."`

	Hidden bool `json:"hidden,omitempty" doc:"You have no role in the run's group: params, note and the reason's text are left out, and its output is not accessible."`

	JobTitle string `json:"jobTitle,omitempty" doc:"Current title of the job; absent without a title, and once the job is deleted."`
}

// LastAttempt is the last attempt of the fire of a run.
type LastAttempt struct {
	Run     string        `json:"run" doc:"Id of the run."`
	Attempt int           `json:"attempt"`
	Status  common.Status `json:"status" enum:"waiting,running,succeeded,failed,timed_out,killed,lost,skipped,refused,missed"`
	DueAt   *time.Time    `json:"dueAt,omitempty" doc:"When a pending attempt is due, if later than planned."`
}

// Estimate is the estimate for a pending or current run; it is not stored.
type Estimate struct {
	ExpectedEndAt *time.Time `json:"expectedEndAt,omitempty" doc:"Expected end, estimated from the job's last 7 days; in the past if the run takes longer than nearly all of those."`
	Late          bool       `json:"late,omitempty" doc:"The run should have started by now."`
	Slow          bool       `json:"slow,omitempty" doc:"The run takes much longer than usual."`
}

// RunFields are those of common.Run.
type RunFields common.Run

// schemaName returns the name of a type in the document: a type of the audit has its prefix there.
func schemaName(t reflect.Type, hint string) string {
	of := t
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	name := huma.DefaultSchemaNamer(t, hint)
	if of.PkgPath() == "carillon/internal/audit" || of == reflect.TypeFor[common.Actor]() {
		return "Audit" + name
	}
	return name
}

// NewSchemas returns the registry of schemas, in which a run has its outlook wherever it is shown.
func NewSchemas() huma.Registry {
	r := huma.NewMapRegistry("#/components/schemas/", schemaName)
	r.RegisterTypeAlias(reflect.TypeFor[common.Run](), reflect.TypeFor[Run]())
	r.RegisterTypeAlias(reflect.TypeFor[common.Edge](), reflect.TypeFor[Edge]())
	r.RegisterTypeAlias(reflect.TypeFor[common.Output](), reflect.TypeFor[Output]())
	r.RegisterTypeAlias(reflect.TypeFor[common.RunOn](), reflect.TypeFor[RunOn]())
	r.RegisterTypeAlias(reflect.TypeFor[common.Fleet](), reflect.TypeFor[Fleet]())
	return r
}
