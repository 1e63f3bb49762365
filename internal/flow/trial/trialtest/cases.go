// Package trialtest holds cases of flows with their expected outcomes. Two tests run the same cases: one by trials, the
// other one as flow runs of a cluster, so that both agree about what a definition means.
package trialtest

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"github.com/goccy/go-yaml"

	"carillon/internal/common"
)

//go:embed testdata/*.yaml
var files embed.FS

// Case is a file: a flow and its runs, or definitions that are rejected.
type Case struct {
	Name     string `json:"-"` // of the file, without its extension
	Title    string
	Jobs     []json.RawMessage // that its steps run
	Flow     json.RawMessage   // without a name
	Runs     []Run
	Rejected []Rejected
}

// Run is a flow run of a case.
type Run struct {
	Name   string // empty for the only one
	Params map[string]string

	// In a trial.
	Ends    map[string]string            // by node, as trial.ParseEnd reads it
	Outputs map[string]map[string]string // by node and name
	Kill    string

	// In a cluster.
	Shell   map[string]string // commands, by step; without one the step succeeds
	Secrets map[string]string // values of secrets that the flow refers to, by name

	// Answers are the values with which approvals are approved, by step.
	Answers map[string]map[string]string

	// Hold lists steps that run until the caller lets them end, which is once Before holds; with Endless, never.
	Hold    []string
	Endless bool
	Before  map[string]string
	// Cleaning holds when the second request of a flow run arrives that is killed by force.
	Cleaning map[string]string

	// Want has the status of each node and, after a space, the code of its reason if that matters.
	Want    map[string]string
	Classes map[string]common.Class
	Names   map[string][]string          // texts that the reason of a node contains
	Values  map[string]map[string]string // variables that a step sees
	// Questions are the texts of approvals, by step; in a cluster, of those with answers.
	Questions map[string]string
	// Reports are outputs of steps, by step and name.
	Reports map[string]map[string]string
	Starts  map[string]string // steps, and the ones after whose end they start
	Status  common.Status     // of the flow run
}

// Rejected is a definition that cannot be saved, and a fault of it.
type Rejected struct {
	Name     string
	Jobs     []json.RawMessage // that exist
	Flow     json.RawMessage
	Location string
	Code     string
}

// Cases returns all cases.
func Cases() ([]Case, error) {
	names, err := fs.Glob(files, "testdata/*.yaml")
	if err != nil {
		return nil, err
	}
	var all []Case
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err == nil {
			data, err = yaml.YAMLToJSON(data)
		}
		c := Case{Name: strings.TrimSuffix(strings.TrimPrefix(name, "testdata/"), ".yaml")}
		if err == nil {
			err = json.Unmarshal(data, &c)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// ID names a run of the case, or a definition of it.
func (c *Case) ID(name string) string { return strings.TrimSuffix(c.Name+"/"+name, "/") }

// Named returns a definition with a name.
func Named(flow json.RawMessage, name string) (map[string]any, error) {
	var fields map[string]any
	if err := json.Unmarshal(flow, &fields); err != nil {
		return nil, err
	}
	fields["name"] = name
	return fields, nil
}

// Met returns why a node does not match the text that is wanted of it; empty if it does.
func Met(want string, status common.Status, reason *common.Reason) string {
	wanted, code, _ := strings.Cut(want, " ")
	got := ""
	if reason != nil {
		got = reason.Code
	}
	if common.Status(wanted) != status || code != "" && code != got {
		return strings.TrimSuffix(fmt.Sprintf("%s %s", status, got), " ") + ", want " + want
	}
	return ""
}
