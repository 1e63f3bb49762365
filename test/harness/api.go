package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// API calls the API of a master.
type API struct {
	Base, Token string
	Client      *http.Client
}

// Ask sends a request. Its response is decoded into out: as it is into a *string, otherwise from JSON if the status is
// below 300; another status is an error too. Headers are names, each followed by its value.
func (a *API) Ask(ctx context.Context, method, path string, body, out any, headers ...string) (status int, err error) {
	var payload io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return 0, err
		}
		payload = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, a.Base+path, payload)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+a.Token)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := a.Client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	text, raw := out.(*string)
	if raw {
		*text = string(data)
	}
	if resp.StatusCode >= 300 {
		return resp.StatusCode, fmt.Errorf("%s %s: %d: %.300s", method, path, resp.StatusCode, bytes.TrimSpace(data))
	}
	if out == nil || raw {
		return resp.StatusCode, nil
	}
	return resp.StatusCode, json.Unmarshal(data, out)
}

// Want sends a request that must be answered with a status below 300.
func (a *API) Want(ctx context.Context, want int, method, path string, body, out any) error {
	status, err := a.Ask(ctx, method, path, body, out)
	if err == nil && status != want {
		err = fmt.Errorf("%s %s: %d, not %d", method, path, status, want)
	}
	return err
}

// Ready reports whether a master is ready.
func (a *API) Ready(ctx context.Context) bool {
	return a.Want(ctx, http.StatusOK, http.MethodGet, "/readyz", nil, nil) == nil
}

// Workers returns the wall clocks that the live workers have registered, by name.
func (a *API) Workers(ctx context.Context) (map[string]time.Time, error) {
	var page struct {
		Items []struct {
			Name  string
			Clock time.Time
		}
	}
	if err := a.Want(ctx, http.StatusOK, http.MethodGet, "/api/v1/workers", nil, &page); err != nil {
		return nil, err
	}
	clocks := map[string]time.Time{}
	for _, w := range page.Items {
		clocks[w.Name] = w.Clock
	}
	return clocks, nil
}
