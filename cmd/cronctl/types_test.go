package main

import (
	"context"
	"testing"

	"carillon/internal/common"
)

func (f *fakes) Types(context.Context) ([]common.TypeInfo, error) {
	return []common.TypeInfo{
		{Name: "http", Version: "1", Title: map[string]string{"en": "HTTP request"}, BuiltIn: true},
		{
			Name:    "sql",
			Version: "1.2.0",
			Title:   map[string]string{"en": "SQL statement"},
			With:    []byte(`{"type":"object","properties":{"dsn":{"type":"string","x-secret":true}}}`),
			Outputs: []string{"rows"},
			Workers: []common.TypeWorker{{ID: "w1", Name: "north", Version: "1.2.0"}},
		},
	}, nil
}

func (f *fakes) Warnings(context.Context, *common.Job) (common.Faults, error) { return nil, nil }

func TestTypes_AreListedAndDescribed(t *testing.T) {
	s := newStage(t)
	s.run("get", "types").want(t, exitOK, "NAME", "http", "HTTP request", "sql", "1.2.0", "SQL statement")
	s.run("describe", "type", "sql").want(t, exitOK, "rows", "north (version 1.2.0)", `"x-secret": true`)
	s.run("describe", "type", "none").want(t, exitNotFound)
}
