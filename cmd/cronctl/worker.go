package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

func (c *cli) drain() *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use:     "drain WORKER",
		Short:   "Drain a worker: it accepts no new runs",
		Long:    "Drain a worker, given by name or id: it finishes its runs and accepts no new ones, until undrain.",
		Example: "  cronctl drain north --note 'kernel update'",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.changeWorker(args[0], func(api *apiclient.API) (*http.Response, error) {
				return api.DrainWorker(cmd.Context(), args[0], apiclient.NoteBody{Note: set(note)})
			})
		},
	}
	cmd.Flags().StringVar(&note, "note", "", "reason; shown with the worker")
	return cmd
}

func (c *cli) undrain() *cobra.Command {
	return &cobra.Command{
		Use:     "undrain WORKER",
		Short:   "End the drain of a worker",
		Example: "  cronctl undrain north",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.changeWorker(args[0], func(api *apiclient.API) (*http.Response, error) {
				return api.UndrainWorker(cmd.Context(), args[0])
			})
		},
	}
}

func (c *cli) set() *cobra.Command {
	return group("set", "Change a worker, a user or a secret",
		"  cronctl set worker north --slots 4 --weight 2\n  cronctl set user ann --role operator", c.setWorker(),
		c.setUser(), c.setSecret())
}

func (c *cli) setWorker() *cobra.Command {
	var slots, weight int
	var labels, reset []string
	cmd := &cobra.Command{
		Use:   "worker WORKER",
		Short: "Override a worker's slots, weight and labels",
		Example: `  cronctl set worker north --slots 4 --weight 2
  cronctl set worker north --label zone=a --label disk=fast
  cronctl set worker north --reset slots,labels`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			patch := map[string]any{}
			for _, name := range reset {
				switch name {
				case "slots", "weight", "labels":
					patch[name] = nil
				default:
					return &common.Error{Code: common.CodeInvalid, Message: fmt.Sprintf("--reset %q is not a setting",
						common.Excerpt(name)),
						Hint: "use slots, weight or labels"}
				}
			}
			if cmd.Flags().Changed("slots") {
				patch["slots"] = slots
			}
			if cmd.Flags().Changed("weight") {
				patch["weight"] = weight
			}
			if len(labels) > 0 {
				given, err := pairs("--label", labels)
				if err != nil {
					return err
				}
				patch["labels"] = given
			}
			if len(patch) == 0 {
				return &common.Error{
					Code:    common.CodeInvalid,
					Message: "nothing to set",
					Hint:    "use --slots, --weight, --label or --reset",
				}
			}
			return c.patchWorker(cmd.Context(), args[0], patch)
		},
	}
	cmd.Flags().IntVar(&slots, "slots", 0, "capacity in slots")
	cmd.Flags().IntVar(&weight, "weight", 1, "share of the jobs that are placed by weight")
	cmd.Flags().StringArrayVar(&labels, "label", nil, "label NAME=VALUE; replaces all labels; may be repeated")
	cmd.Flags().StringSliceVar(&reset, "reset", nil, "return to the worker's own values: slots, weight, labels")
	return cmd
}

func (c *cli) label() *cobra.Command {
	return &cobra.Command{
		Use:   "label WORKER NAME=VALUE|NAME-...",
		Short: "Add, change or remove labels of a worker",
		Example: `  cronctl label north zone=a disk=fast
  cronctl label north disk-`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := named("worker", args[0]); err != nil {
				return err
			}
			api, err := c.api()
			if err != nil {
				return err
			}
			worker, err := apiclient.Decode[apiclient.Worker](api.GetWorker(cmd.Context(), args[0]))
			if err != nil {
				return err
			}
			labels := map[string]string{}
			if worker.Labels != nil {
				maps.Copy(labels, *worker.Labels)
			}
			for _, arg := range args[1:] {
				if name, gone := strings.CutSuffix(arg, "-"); gone && !strings.Contains(arg, "=") {
					delete(labels, name)
					continue
				}
				given, err := pairs("label", []string{arg})
				if err != nil {
					return err
				}
				maps.Copy(labels, given)
			}
			return c.patchWorker(cmd.Context(), worker.Id, map[string]any{"labels": labels})
		},
	}
}

// patchWorker sends a change in which null returns to the worker's own value.
func (c *cli) patchWorker(ctx context.Context, worker string, patch map[string]any) error {
	data, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	return c.changeWorker(worker, func(api *apiclient.API) (*http.Response, error) {
		return api.PatchWorkerWithBody(ctx, worker, "application/json", bytes.NewReader(data))
	})
}

// changeWorker requests a change of a worker and prints its new state.
func (c *cli) changeWorker(worker string, ask func(*apiclient.API) (*http.Response, error)) error {
	if err := named("worker", worker); err != nil {
		return err
	}
	api, err := c.api()
	if err != nil {
		return err
	}
	raw, err := apiclient.Decode[json.RawMessage](ask(api))
	return c.one(raw, err, c.showWorkers)
}

// labelsOf formats labels as selectors do.
func labelsOf(labels *map[string]string) string {
	if labels == nil {
		return "-"
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(*labels)) {
		parts = append(parts, name+"="+(*labels)[name])
	}
	return or(strings.Join(parts, ","), "-")
}

// workerAndRuns is a worker with its runs.
type workerAndRuns struct {
	Worker json.RawMessage `json:"worker"`
	Runs   list            `json:"runs"`
}

func (c *cli) describeWorker() *cobra.Command {
	return &cobra.Command{
		Use:     "worker WORKER",
		Aliases: []string{"workers"},
		Short:   "Show a worker with its conditions and latest runs",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := named("worker", args[0]); err != nil {
				return err
			}
			api, err := c.api()
			if err != nil {
				return err
			}
			var d workerAndRuns
			if d.Worker, err = apiclient.Decode[json.RawMessage](api.GetWorker(cmd.Context(), args[0])); err != nil {
				return err
			}
			w, err := decode[apiclient.Worker](d.Worker)
			if err != nil {
				return err
			}
			if d.Runs, err = apiclient.Decode[list](api.ListRuns(cmd.Context(), &apiclient.ListRunsParams{
				Worker: &w.Id,
				Limit:  new(int64(lastShown)),
			})); err != nil {
				return err
			}
			if c.format == "json" || c.format == "yaml" {
				return c.print(d)
			}
			return c.showWorker(&w, d.Runs.Items)
		},
	}
}

func (c *cli) showWorker(w *apiclient.Worker, runs []json.RawMessage) error {
	var facts table
	fact := func(name, value string) {
		if value != "" {
			facts.row(name+":", value)
		}
	}
	fact("Name", w.Name)
	fact("Id", w.Id)
	fact("State", workerState(w))
	fact("Host", w.Host)
	fact("Version", w.Version)
	fact("Since", when(w.StartedAt))
	fact("Slots", fmt.Sprintf("%d of %d used, by %d runs", w.Used, w.Slots, w.Running))
	fact("Weight", fmt.Sprint(w.Weight))
	fact("Labels", labelsOf(w.Labels))
	fact("Clock", fmt.Sprintf("%s, %d ms ahead", when(w.Clock), w.SkewMs))
	if w.Conditions != nil {
		for _, d := range *w.Conditions {
			fact("Condition", string(d.Code)+": "+d.Text+" (since "+when(d.Since)+")")
		}
	}
	if err := facts.print(c.stdout); err != nil {
		return err
	}
	fmt.Fprintln(c.stdout, "\nRuns:")
	return c.showRuns(nil, runs)
}
