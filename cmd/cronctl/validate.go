package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

func (c *cli) validate() *cobra.Command {
	var files []string
	cmd := &cobra.Command{
		Use:     "validate -f FILE|DIR",
		Aliases: []string{"lint"},
		Short:   "Check job files, and write nothing",
		Long: `Check job files as the server would when they are saved, and write nothing: all faults of all
jobs are printed, each with its place, such as steps[3].env.DAY, and warnings about values
that are accepted but probably not intended. Jobs may name others of the same files.

Files have the format that "cronctl export" writes: JSON or YAML with one job, several
documents, or a list. Exit code 2: at least one job has a fault.`,
		Example: `  cronctl validate -f nightly-etl.yaml
  cronctl validate -f jobs/`,
		Args: cobra.NoArgs,
		RunE: c.online(func(ctx context.Context, api *apiclient.API, _ []string) error {
			if len(files) == 0 {
				return invalid("no files given", "use -f FILE, -f DIR, or -f - for standard input")
			}
			docs, err := c.documents(files...)
			if err != nil {
				return err
			}
			return c.validateAll(ctx, api, docs)
		}),
	}
	cmd.Flags().StringArrayVarP(&files, "file", "f", nil,
		"file with jobs, or folder of such files, may be repeated; - for standard input")
	return cmd
}

// checked is the result of the check of one document.
type checked struct {
	From     string         `json:"from"`
	Name     string         `json:"name"`
	Valid    bool           `json:"valid"`
	Faults   []common.Fault `json:"faults"`
	Warnings []common.Fault `json:"warnings"`
}

func (c *cli) validateAll(ctx context.Context, api *apiclient.API, docs []document) error {
	docs, groups := apart(docs)
	for _, d := range groups {
		group, body, _ := defaultsIn(d)
		if _, err := putDefaults(ctx, api, group, body, true, nil); err != nil {
			return within(d.from, err)
		}
		if !c.structured() {
			fmt.Fprintln(c.stdout, oneLine("valid defaults of "+group))
		}
	}
	jobs, all := make([]common.Job, len(docs)), make([]checked, len(docs))
	for i, d := range docs {
		v, err := validate(ctx, api, d.data)
		if err != nil {
			return within(d.from, err)
		}
		jobs[i], _ = decode[common.Job](d.data) // it may be invalid
		all[i] = checked{From: d.from, Name: jobs[i].Name, Faults: v.Faults, Warnings: v.Warnings}
	}
	_, known := parentsFirst(jobs)
	failed := false
	for i := range all {
		all[i].Faults = without(all[i].Faults, known)
		all[i].Valid = len(all[i].Faults) == 0
		failed = failed || !all[i].Valid
	}
	if c.structured() {
		if err := c.print(all); err != nil {
			return err
		}
	} else {
		c.showChecked(all)
	}
	if failed {
		return exitError(exitUsage)
	}
	return nil
}

// without removes the faults of references to jobs that the same files define.
func without(faults []common.Fault, known map[string]bool) []common.Fault {
	left := []common.Fault{}
	for _, f := range faults {
		if name, _ := f.Value.(string); f.Code != "unknown_job" || !known[name] {
			left = append(left, f)
		}
	}
	return left
}

func (c *cli) showChecked(all []checked) {
	for i := range all {
		one := &all[i]
		if one.Valid {
			fmt.Fprintln(c.stdout, oneLine("valid "+one.Name))
		} else {
			fmt.Fprintln(c.stdout, oneLine("invalid "+one.Name+" ("+one.From+")"))
		}
		for _, f := range one.Faults {
			c.showFault("", f)
		}
		for _, f := range one.Warnings {
			c.showFault("warning: ", f)
		}
	}
}

func (c *cli) showFault(kind string, f common.Fault) {
	line := kind + f.Location + ": " + f.Message
	if f.Location == "" {
		line = kind + f.Message
	}
	fmt.Fprintln(c.stdout, "  "+oneLine(line))
	if f.Hint != "" {
		fmt.Fprintln(c.stdout, "    "+oneLine(f.Hint))
	}
}
