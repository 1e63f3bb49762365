package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"carillon/test/chaos/check"
	"carillon/test/harness"
)

// api speaks to the masters: to the first that answers.
type api struct {
	bases  []string
	token  string
	client *http.Client
}

func newAPI(bases ...string) *api {
	return &api{bases: bases, client: &http.Client{Timeout: time.Minute}}
}

// one is the API of one master.
func (a *api) one(base string) *harness.API {
	return &harness.API{Base: base, Token: a.token, Client: a.client}
}

// do asks the masters one after the other, until one can tell. What is not safe to
// say twice is said to the next one only where the first was not reached.
func (a *api) do(ctx context.Context, method, path string, body, out any) error {
	var all []error
	for _, base := range a.bases {
		status, err := a.one(base).Ask(ctx, method, path, body, out)
		if err == nil {
			return nil
		}
		all = append(all, err)
		if status != 0 && status < 500 || status >= 500 && method != http.MethodGet {
			break
		}
	}
	return errors.Join(all...)
}

func (a *api) get(ctx context.Context, path string, out any) error {
	return a.do(ctx, http.MethodGet, path, nil, out)
}

// liveWorkers gives the wall clocks that they have registered, by name.
func (a *api) liveWorkers(ctx context.Context) (clocks map[string]time.Time, err error) {
	for _, base := range a.bases {
		if clocks, err = a.one(base).Workers(ctx); err == nil {
			break
		}
	}
	return clocks, err
}

// pages reads a list to its end.
func pages[T any](ctx context.Context, a *api, path string, query url.Values) ([]T, error) {
	query.Set("limit", "500")
	query.Del("cursor")
	var all []T
	for {
		var page struct {
			Items      []T
			NextCursor string
		}
		if err := a.get(ctx, path+"?"+query.Encode(), &page); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if page.NextCursor == "" {
			return all, nil
		}
		query.Set("cursor", page.NextCursor)
	}
}

func window(from, to time.Time) url.Values {
	return url.Values{"from": {from.UTC().Format(time.RFC3339Nano)}, "to": {to.UTC().Format(time.RFC3339Nano)}}
}

func (a *api) runs(ctx context.Context, from, to time.Time) ([]check.Run, error) {
	query := window(from, to)
	query.Set("nodes", "true")
	return pages[check.Run](ctx, a, "/api/v1/runs", query)
}

// node is a node of a flow run.
type node struct {
	Node, Run, Status string
	Kept              bool
	Accepted          *struct{}
	Outputs           map[string]string
}

// nodes returns those of a flow run that has few.
func (a *api) nodes(ctx context.Context, run string) ([]node, error) {
	var list struct{ Items []node }
	err := a.get(ctx, "/api/v1/runs/"+url.PathEscape(run)+"/nodes", &list)
	return list.Items, err
}

func (a *api) fires(ctx context.Context, from, to time.Time) ([]check.Fire, error) {
	return pages[check.Fire](ctx, a, "/api/v1/fires", window(from, to))
}

// output gives all that was kept of what a run printed. It is asked for in pieces: a
// store that has no index looks through everything for each question.
func (a *api) output(ctx context.Context, run string) (io.ReadCloser, error) {
	var text bytes.Buffer
	for offset := int64(0); ; {
		header, err := a.piece(ctx, run, offset, &text)
		if err != nil {
			return nil, err
		}
		next, err := strconv.ParseInt(header.Get("Carillon-Next-Offset"), 10, 64)
		if err != nil || next <= offset || header.Get("Carillon-Output-Complete") == "true" {
			return io.NopCloser(&text), err
		}
		offset = next
	}
}

const mostPiece = 1 << 20

func (a *api) piece(ctx context.Context, run string, offset int64, to *bytes.Buffer) (http.Header, error) {
	path := fmt.Sprintf("/api/v1/runs/%s/output?limit=%d&offset=%d", url.PathEscape(run), mostPiece, offset)
	var all []error
	for _, base := range a.bases {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+path, nil)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Bearer "+a.token)
		resp, err := a.client.Do(req)
		if err != nil {
			all = append(all, err)
			continue
		}
		if resp.StatusCode != http.StatusOK {
			all = append(all, fmt.Errorf("output of %s: %d", run, resp.StatusCode), resp.Body.Close())
			continue
		}
		_, err = to.ReadFrom(resp.Body)
		return resp.Header, errors.Join(err, resp.Body.Close())
	}
	return nil, errors.Join(all...)
}
