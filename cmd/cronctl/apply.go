package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

const (
	// A request holds at most this many bytes and jobs; the server accepts 8 MiB.
	maxApplied     = 7 << 20
	maxAppliedJobs = 20_000
)

// applyFlags select the files and the jobs to apply.
type applyFlags struct {
	files  []string
	prune  string
	note   string
	dryRun bool
}

func (f *applyFlags) declare(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&f.files, "file", "f", nil,
		"file with jobs, or folder of such files, may be repeated; - for standard input")
	cmd.Flags().StringVar(&f.prune, "prune", "",
		"also delete jobs with these labels that are not in the files, such as app=shop")
}

func (c *cli) apply() *cobra.Command {
	var f applyFlags
	cmd := &cobra.Command{
		Use:   "apply -f FILE|DIR",
		Short: "Apply job files: create, update, or delete with --prune",
		Long: `Apply job files: create the jobs that do not exist, and update those that differ. Each job
is applied on its own: if one is refused, the others are applied all the same, and the
refused ones are listed. Unchanged jobs are not written; -o wide lists them too.

With --prune, jobs whose labels match the selector and that are not in the files are
deleted, in the groups where you are editor. Nothing is deleted if any job was refused.
With --dry-run nothing is written, and the differences are printed.

Files have the format that "cronctl export" writes: JSON or YAML with one job, several
documents, or a list. A document with the field defaults in place of a name holds the defaults
of a group, which are applied before the jobs. Exit code 2: at least one job was refused.`,
		Example: `  cronctl apply -f jobs/
  cronctl apply -f jobs/ --prune managed-by=git --dry-run
  cronctl export --group shop | cronctl apply -f - --context other`,
		Args: cobra.NoArgs,
		RunE: c.online(func(ctx context.Context, api *apiclient.API, _ []string) error {
			applied, err := c.applyFiles(ctx, api, &f)
			if err != nil {
				return err
			}
			return c.showApplied(applied)
		}),
	}
	f.declare(cmd)
	cmd.Flags().StringVar(&f.note, "note", "", "reason; stored with the versions")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "print the differences and write nothing")
	return cmd
}

func (c *cli) diff() *cobra.Command {
	var f applyFlags
	var from, to int64
	cmd := &cobra.Command{
		Use:   "diff -f FILE|DIR | diff JOB --from VERSION [--to VERSION]",
		Short: "Show changes of apply, or between two versions of a job",
		Long: `Show what "cronctl apply" would change, as a unified diff, and write nothing; or show the
differences between two versions of a job. The exit code is that of diff(1): 0 without
differences, 1 with differences.`,
		Example: `  cronctl diff -f jobs/
  cronctl diff -f jobs/ --prune managed-by=git
  cronctl diff nightly-report --from 3          # compare with the current version
  cronctl diff nightly-report --from 3 --to 5`,
		Args: valid("job", cobra.MaximumNArgs(1)),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			if len(args) == 1 {
				if len(f.files) > 0 || f.prune != "" {
					return invalid("-f and a job name exclude each other", "use either -f, or a job and --from")
				}
				return c.diffVersions(ctx, api, args[0], from, to)
			}
			f.dryRun = true
			applied, err := c.applyFiles(ctx, api, &f)
			if err != nil {
				return err
			}
			if err := c.showDiff(applied); err != nil {
				return err
			}
			if applied.Counts.Created+applied.Counts.Changed+applied.Counts.Deleted > 0 {
				return exitError(exitJobFailed)
			}
			return nil
		}),
	}
	f.declare(cmd)
	cmd.Flags().Int64Var(&from, "from", 0, "older version of the job; cronctl get versions lists them")
	cmd.Flags().Int64Var(&to, "to", 0, "newer version (default: the current one)")
	return cmd
}

// applyFiles sends the jobs of the files, in as few requests as possible.
func (c *cli) applyFiles(ctx context.Context, api *apiclient.API, f *applyFlags) (*apiclient.ApplyAnswer, error) {
	if len(f.files) == 0 {
		return nil, invalid("no files given", "use -f FILE, -f DIR, or -f - for standard input")
	}
	docs, err := c.documents(f.files...)
	if err != nil {
		return nil, err
	}
	docs, groups := apart(docs)
	if err := c.applyDefaults(ctx, api, groups, f.dryRun); err != nil {
		return nil, err
	}
	if _, n := requestOf(docs); n < len(docs) {
		docs = inOrder(docs)
	}
	all := &apiclient.ApplyAnswer{Items: []apiclient.Applied{}, DryRun: &f.dryRun}
	for sent := 0; sent < len(docs); {
		body, n := requestOf(docs[sent:])
		if n < len(docs) && f.prune != "" {
			return nil, hinted(common.CodeTooLarge, fmt.Sprintf(
				"too many jobs for one request (%d MiB, %d jobs), and --prune needs all of them in one", maxApplied>>20,
				maxAppliedJobs), "apply them in parts, each with its own selector")
		}
		part, err := apiclient.Decode[apiclient.ApplyAnswer](api.ApplyJobsWithBody(ctx, &apiclient.ApplyJobsParams{
			DryRun: &f.dryRun,
			Prune:  set(f.prune),
			Note:   set(f.note),
		}, jsonType, bytes.NewReader(body)))
		if err != nil {
			if sent > 0 {
				fmt.Fprintf(c.stderr, "note: jobs applied before this error: the first %d of %d\n", sent, len(docs))
			}
			return nil, err
		}
		name(part.Items, docs[sent:sent+n])
		all.Items = append(all.Items, part.Items...)
		all.Counts.Created += part.Counts.Created
		all.Counts.Changed += part.Counts.Changed
		all.Counts.Unchanged += part.Counts.Unchanged
		all.Counts.Deleted += part.Counts.Deleted
		all.Counts.Refused += part.Counts.Refused
		all.Counts.Unknown += part.Counts.Unknown
		sent += n
	}
	return all, nil
}

// applyDefaults saves the defaults of groups that differ, and prints which jobs they change. Jobs that are refused keep
// their values, and are reported.
func (c *cli) applyDefaults(ctx context.Context, api *apiclient.API, docs []document, dry bool) error {
	changes := false
	for _, d := range docs {
		group, body, _ := defaultsIn(d)
		before, _, err := held(ctx, api, group)
		if err != nil {
			return within(d.from, err)
		}
		// Equal ones are not sent: to change those of outer groups needs rights that the caller may lack.
		if wanted, err := decode[common.Defaults](body); err == nil && common.Same(&before, &wanted) {
			continue
		}
		saved, err := putDefaults(ctx, api, group, body, dry, nil)
		if err != nil {
			return within(d.from, err)
		}
		changes = true
		if !c.structured() {
			fmt.Fprintf(c.stdout, "defaults of %s\n", oneLine(group))
			c.showReview(&saved.Review, dry)
			c.doubtDefaults(saved)
		}
		if dry && saved.Review.Refused > 0 {
			return exitError(exitUsage)
		}
	}
	if dry && changes {
		fmt.Fprintln(c.stderr, "note: the differences of jobs below are those without the new defaults")
	}
	return nil
}

// inOrder returns jobs in the order in which several requests can create them: those that others name first.
func inOrder(docs []document) []document {
	jobs := make([]common.Job, len(docs))
	for i := range docs {
		jobs[i], _ = decode[common.Job](docs[i].data) // the server reports what is no job
	}
	order, _ := parentsFirst(jobs)
	ordered := make([]document, len(docs))
	for at, i := range order {
		ordered[at] = docs[i]
	}
	return ordered
}

// name gives items without a name the file and position that they were read from.
func name(items []apiclient.Applied, docs []document) {
	for i := range min(len(items), len(docs)) {
		if items[i].Name == "" {
			items[i].Name = docs[i].from
		}
	}
}

// requestOf returns a request body with as many jobs as it can hold, at least one, and their number.
func requestOf(docs []document) (body []byte, n int) {
	var b bytes.Buffer
	b.WriteString(`{"jobs":[`)
	for n < len(docs) && n < maxAppliedJobs && (n == 0 || b.Len()+len(docs[n].data) < maxApplied) {
		if n > 0 {
			b.WriteByte(',')
		}
		b.Write(docs[n].data)
		n++
	}
	b.WriteString(`]}`)
	return b.Bytes(), n
}

func (c *cli) showApplied(a *apiclient.ApplyAnswer) error {
	if c.structured() {
		return cmp.Or(c.print(a), c.refusals(a))
	}
	dry, note := *a.DryRun, ""
	if dry {
		note = " (not written)"
	}
	for i := range a.Items {
		item := &a.Items[i]
		if item.Result == apiclient.AppliedResultRefused || item.Result == apiclient.AppliedResultUnknown ||
			item.Result == apiclient.AppliedResultUnchanged && c.format != "wide" {
			continue
		}
		line := fmt.Sprintf("%s %s", item.Result, item.Name)
		if fields := value(item.Fields); len(fields) > 0 {
			line += ": " + strings.Join(fields, ", ")
		}
		fmt.Fprintln(c.stdout, oneLine(line)+note)
		if dry {
			c.printDiff(value(item.Diff))
		}
	}
	for i := range a.Items {
		c.doubt(a.Items[i].Name, warningsOf(&a.Items[i]))
	}
	failed := c.refusals(a)
	n := &a.Counts
	if n.Unknown > 0 {
		note = fmt.Sprintf(", %d unknown%s", n.Unknown, note)
	}
	fmt.Fprintf(c.stdout, "%d created, %d changed, %d unchanged, %d deleted, %d refused%s\n", n.Created, n.Changed,
		n.Unchanged, n.Deleted, n.Refused, note)
	return failed
}

// warningsOf returns the remarks on a job, with their places in it.
func warningsOf(item *apiclient.Applied) (all []common.Fault) {
	for _, f := range value(item.Warnings) {
		_, at, _ := strings.Cut(f.Location, "].")
		all = append(all, common.Fault{Location: at, Message: f.Message, Hint: value(f.Hint)})
	}
	return all
}

func (c *cli) showDiff(a *apiclient.ApplyAnswer) error {
	if c.structured() {
		return cmp.Or(c.print(a), c.refusals(a))
	}
	for i := range a.Items {
		c.printDiff(value(a.Items[i].Diff))
	}
	return c.refusals(a)
}

// refusals prints why jobs were refused, and returns the exit code of the first refusal.
func (c *cli) refusals(a *apiclient.ApplyAnswer) (failed error) {
	for i := range a.Items {
		failed = cmp.Or(failed, c.refused(a.Items[i].Name, a.Items[i].Refusal, !c.structured()))
	}
	return failed
}

// refused prints the refusal of one item of a request, if it was refused, and returns its exit code.
func (c *cli) refused(name string, r *apiclient.Refusal, loud bool) error {
	if r == nil {
		return nil
	}
	e := &common.Error{Code: common.Code(r.Code), Message: oneLine(name + ": " + r.Detail), Hint: value(r.Hint)}
	for _, f := range value(r.Errors) {
		at := f.Location
		if _, below, found := strings.Cut(at, "]."); found {
			at = below // the job is named already
		}
		e.Faults = append(e.Faults, common.Fault{Location: at, Message: f.Message, Hint: value(f.Hint)})
	}
	if loud {
		report(c.stderr, e)
	}
	return exitError(exitCode(context.Background(), e))
}

// printDiff prints differences, in colours on a terminal.
func (c *cli) printDiff(diff string) {
	colours := c.colours()
	for line := range strings.Lines(diff) {
		line = strings.TrimSuffix(line, "\n")
		shade := ""
		switch {
		case strings.HasPrefix(line, "+"):
			shade = green
		case strings.HasPrefix(line, "-"):
			shade = red
		case strings.HasPrefix(line, "@@"):
			shade = cyan
		}
		if colours && shade != "" {
			line = "\x1b[" + shade + "m" + line + "\x1b[0m"
		}
		fmt.Fprintln(c.stdout, line)
	}
}

func (c *cli) diffVersions(ctx context.Context, api *apiclient.API, job string, from, to int64) error {
	if from <= 0 {
		return invalid("no version given", "name one with --from; cronctl get versions "+job+" lists them")
	}
	from, _, err := revisionOf(ctx, api, job, from)
	if err == nil && to > 0 {
		to, _, err = revisionOf(ctx, api, job, to)
	}
	if err != nil {
		return err
	}
	raw, err := apiclient.Decode[json.RawMessage](api.DiffJobVersions(ctx, job, from,
		&apiclient.DiffJobVersionsParams{To: set(max(to, 0))}))
	if err != nil {
		return err
	}
	d, err := decode[apiclient.VersionDiff](raw)
	if err != nil {
		return err
	}
	if c.structured() {
		err = c.print(raw)
	} else {
		c.printDiff(d.Diff)
	}
	if err == nil && d.Diff != "" {
		return exitError(exitJobFailed)
	}
	return err
}
