package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
	"carillon/internal/common/yamltext"
)

func (c *cli) export() *cobra.Command {
	var f choice
	var to string
	cmd := &cobra.Command{
		Use:   "export [JOB…]",
		Short: "Export jobs as YAML for apply",
		Long: `Export job definitions as YAML, sorted by name: all jobs, the named ones, or those that match
a filter. Fields that the server adds (versions, times, the next fire) are left out, so that
the same jobs always give the same file. "cronctl apply -f" reads it, here or on another
server; an export from there is identical, byte for byte.

With -o FILE all jobs are written to one file, which is replaced only when it is complete;
with -o and a folder (DIR/, or an existing one) each job gets a file, NAME.yaml. Files are
readable by their owner only, since commands and variables may contain secrets.`,
		Example: `  cronctl export -o jobs.yaml
  cronctl export --group reports -o jobs/
  cronctl export nightly-report | cronctl apply -f - --server https://other.example.com:7070`,
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			switch to {
			case "yaml", "json", "table", "wide":
				return invalid("-o is the destination here; jobs are always exported as YAML",
					"to write a file of that name, use -o ./"+to)
			}
			if err := f.read(); err != nil {
				return err
			}
			if len(args) > 0 || f.filtered() {
				if err := f.take(nil, args); err != nil {
					return err
				}
			}
			jobs, err := exported(ctx, api, &f)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				groups, err := exportedDefaults(ctx, api, f.query)
				if err != nil {
					return err
				}
				jobs = append(groups, jobs...)
			}
			c.noteMissing(jobs)
			return c.writeJobs(jobs, to, len(args) == 0 && len(f.query) == 0)
		}),
	}
	// It hides the global flag of that name, which selects the output format.
	cmd.Flags().StringVarP(&to, "output", "o", "",
		"file to write, or folder (DIR/) for a file of each job (default: standard output)")
	f.declare(cmd)
	return cmd
}

// exportedJob is a job to export.
type exportedJob struct {
	name     string
	yaml     []byte
	defines  string   // the group whose defaults these are, in place of a job
	inherits []string // the groups from whose defaults the job has values
}

// exported fetches the jobs, in the order of the export.
func exported(ctx context.Context, api *apiclient.API, f *choice) ([]exportedJob, error) {
	var found []json.RawMessage
	for _, name := range slices.Compact(slices.Sorted(slices.Values(f.names))) {
		one, err := apiclient.Decode[json.RawMessage](api.GetJob(ctx, name))
		if err != nil {
			return nil, within(name, err)
		}
		found = append(found, one)
	}
	if len(f.names) == 0 {
		all, err := jobResource().fetch(ctx, api, f.query, 0)
		if err != nil {
			return nil, err
		}
		if found, err = withSteps(ctx, api, all.Items); err != nil {
			return nil, err
		}
	}
	if len(found) == 0 {
		return nil, common.Errorf(common.CodeNotFound, "no jobs to export")
	}
	jobs := make([]exportedJob, len(found))
	for i, data := range found {
		var err error
		if jobs[i], err = asDefined(data); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// noteMissing names the defaults from which exported jobs have values, and that are not exported with them: elsewhere,
// these jobs would not have them.
func (c *cli) noteMissing(all []exportedJob) {
	exported, missing := map[string]bool{}, map[string]bool{}
	for _, j := range all {
		exported[j.defines] = true
	}
	for _, j := range all {
		for _, group := range j.inherits {
			if !exported[group] {
				missing[group] = true
			}
		}
	}
	if len(missing) > 0 {
		fmt.Fprintf(c.stderr, "note: these jobs also have values from the defaults of %s, which are not exported\n",
			oneLine(strings.Join(slices.Sorted(maps.Keys(missing)), ", ")))
	}
}

// fileOfDefaults begins the names of files with defaults; no job has such a name.
const fileOfDefaults = "_defaults"

// exportedDefaults fetches the defaults of groups: those of one group, if its jobs are exported; none with another
// filter.
func exportedDefaults(ctx context.Context, api *apiclient.API, query url.Values) (all []exportedJob, err error) {
	group := query.Get("group")
	if len(query) > 1 || len(query) == 1 && group == "" {
		return nil, nil
	}
	found, err := apiclient.Decode[list](api.ListDefaults(ctx))
	if common.CodeOf(err) == common.CodeNotFound || common.CodeOf(err) == common.CodeForbidden {
		return nil, nil // an older server
	}
	if err != nil {
		return nil, err
	}
	for _, item := range found.Items {
		d, err := decode[apiclient.JobDefaults](item)
		if err != nil {
			return nil, err
		}
		if group != "" && d.Group != group {
			continue
		}
		text, err := asDefaults(item)
		if err != nil {
			return nil, err
		}
		name := fileOfDefaults
		if d.Group != common.AllGroups {
			name += "_" + strings.ReplaceAll(d.Group, "/", "+")
		}
		all = append(all, exportedJob{name: name, yaml: text, defines: d.Group})
	}
	return all, nil
}

// withSteps returns listed jobs with the steps of flows, which lists leave out. A job that was deleted since is left
// out.
func withSteps(ctx context.Context, api *apiclient.API, listed []json.RawMessage) (jobs []json.RawMessage, err error) {
	for _, data := range listed {
		j, err := decode[job](data)
		if err != nil {
			return nil, err
		}
		if j.Meta.Flow != nil {
			data, err = apiclient.Decode[json.RawMessage](api.GetJob(ctx, j.Name))
			if common.CodeOf(err) == common.CodeNotFound {
				continue
			}
			if err != nil {
				return nil, within(j.Name, err)
			}
		}
		jobs = append(jobs, data)
	}
	return jobs, nil
}

// asDefined removes the fields that the server added. All others keep their order, including fields that this
// version does not have.
func asDefined(data []byte) (exportedJob, error) {
	j, err := decode[struct {
		Name string
		Meta struct{ Inherited []struct{ From string } }
	}](data)
	if err != nil {
		return exportedJob{}, err
	}
	var inherits []string
	for _, i := range j.Meta.Inherited {
		inherits = append(inherits, i.From)
	}
	text, err := yamltext.Of(data, "meta")
	if err != nil {
		return exportedJob{}, unreadable(err)
	}
	return exportedJob{name: j.Name, yaml: text, inherits: inherits}, nil
}

// writeJobs writes jobs to standard output, a file or a folder; whole reports whether they are all jobs of the
// server.
func (c *cli) writeJobs(jobs []exportedJob, to string, whole bool) error {
	if info, err := os.Stat(to); strings.HasSuffix(to, "/") || err == nil && info.IsDir() {
		return c.writeFolder(jobs, to, whole)
	}
	var b bytes.Buffer
	for i, j := range jobs {
		if i > 0 {
			b.WriteString("---\n")
		}
		b.Write(j.yaml)
	}
	if b.Len() > maxFile {
		return hinted(common.CodeTooLarge,
			fmt.Sprintf("the jobs are larger than %d KiB, the limit for a file of jobs", maxFile>>10),
			"write one file per job: cronctl export -o DIR/")
	}
	if to == "" {
		_, err := c.stdout.Write(b.Bytes())
		return err
	}
	if err := writeFile(to, b.Bytes()); err != nil {
		return err
	}
	c.sayExported(jobs, to)
	return nil
}

func (c *cli) sayExported(all []exportedJob, to string) {
	n, more := 0, ""
	for _, j := range all {
		if j.defines == "" {
			n++
		}
	}
	if groups := len(all) - n; groups > 0 {
		more = fmt.Sprintf(" and defaults of %s", common.Count(groups, "group", "groups"))
	}
	fmt.Fprintf(c.stdout, "exported %s%s to %s\n", common.Count(n, "job", "jobs"), more, to)
}

func (c *cli) writeFolder(jobs []exportedJob, dir string, whole bool) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return cannot("a folder cannot be made", err)
	}
	written := map[string]bool{}
	for _, j := range jobs {
		file := filepath.Join(dir, j.name+".yaml")
		if err := writeFile(file, j.yaml); err != nil {
			return err
		}
		written[file] = true
	}
	c.sayExported(jobs, dir)
	if !whole {
		return nil
	}
	files, err := jobFiles(dir)
	if err != nil {
		return err
	}
	for _, file := range files {
		if !written[file] {
			fmt.Fprintf(c.stderr, "note: %s existed before and belongs to none of these jobs\n", file)
		}
	}
	return nil
}

// writeFile replaces a file atomically, after its content is on disk.
func writeFile(path string, data []byte) error {
	failed := func(err error) error {
		return cannot("cannot write "+path, err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return failed(err)
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return failed(errors.Join(err, os.Remove(f.Name())))
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return failed(errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}
