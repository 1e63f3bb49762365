package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"carillon/internal/apiclient"
)

func typeResource() *resource {
	return &resource{
		name: "type", plural: "types",
		get:       verb{use: "types [NAME]", short: "List types of jobs, or show one"},
		describe:  verb{use: "type NAME", short: "Show a type with its settings and workers"},
		columns:   columnsOf("NAME,VERSION,TITLE,WORKERS,+OUTPUTS,+DIFFERS", typeCells),
		list:      all((*client).ListTypes),
		one:       byID((*client).GetType),
		unwatched: true,
		whole:     true,
		parts:     describeType,
		offer:     func(o *offered) (string, string) { return o.Name, "" },
	}
}

func typeCells(t *apiclient.TypeInfo, _ bool) []any {
	return []any{t.Name, t.Version, cmp.Or(titleOf(t), "-"), len(t.Workers),
		cmp.Or(strings.Join(value(t.Outputs), ","), "-"), value(t.Differs)}
}

// titleOf returns the title of a type in English.
func titleOf(t *apiclient.TypeInfo) string { return value(t.Title)["en"] }

func describeType(ctx context.Context, c *cli, api *apiclient.API, id string) (any, func() error, error) {
	whole, err := apiclient.Decode[json.RawMessage](api.GetType(ctx, id))
	if err != nil {
		return nil, nil, err
	}
	t, err := decode[apiclient.TypeInfo](whole)
	if err != nil {
		return nil, nil, err
	}
	return whole, func() error {
		var facts table
		facts.fact("Name", t.Name)
		facts.fact("Title", cmp.Or(titleOf(&t), "-"))
		facts.fact("Version", t.Version)
		facts.fact("Outputs", cmp.Or(strings.Join(value(t.Outputs), ", "), "-"))
		if value(t.Escapes) {
			facts.fact("Escapes", "work may continue after the process has ended: onLost must be abandon or detach")
		}
		if value(t.Differs) {
			facts.fact("Differs", "the schemas of the workers differ")
		}
		for _, w := range t.Workers {
			facts.fact("Worker", fmt.Sprintf("%s (version %s)", cmp.Or(w.Name, w.Id), w.Version))
		}
		if err := facts.print(c.stdout); err != nil {
			return err
		}
		if t.With == nil {
			return nil
		}
		text, err := json.MarshalIndent(t.With, "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.stdout, "\nSettings (JSON schema of with):\n%s\n", text)
		return err
	}, nil
}
