package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
)

const (
	// Tolerated difference between the local clock and the server's.
	clockWarns = 5 * time.Second
	// The end of the server's certificate and of the token is reported this long before.
	certificateWarns = 21 * 24 * time.Hour
	tokenWarns       = 7 * 24 * time.Hour
	slowServer       = time.Second
)

// finding is the result of one check, by the server or by cronctl.
type finding struct {
	Check  string          `json:"check"`
	Status string          `json:"status"`
	Who    string          `json:"who,omitempty"`
	Text   string          `json:"text"`
	Advice string          `json:"advice,omitempty"`
	Data   json.RawMessage `json:"data,omitempty"`
}

// examination holds the server's findings, followed by those of cronctl.
type examination struct {
	At       time.Time `json:"at"`
	Master   string    `json:"master,omitempty"`
	Version  string    `json:"version"`
	Status   string    `json:"status"`
	Findings []finding `json:"findings"`
	// Records are the stored values that do not decode; the server lists them for admins.
	Records []apiclient.Record `json:"records,omitempty"`
}

func (c *cli) doctor() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check the cluster and print a remedy for each failure",
		Long: `doctor checks the connection to the server from here (response time, certificate, clocks,
your token), and has the server check etcd (members, versions, space), clocks, watches, the
log store, certificates, workers, masters, the audit chain, stored values and all active
conditions. Below the list of checks it prints a remedy for each one that did not pass and, for
admins, the stored values that do not decode, each with the command that deletes it or another
way to proceed.

The exit code is 1 if a check failed, and 0 if all passed or there are only warnings.`,
		Example: `  cronctl doctor
  cronctl doctor -o json | jq '.findings[] | select(.status != "ok")'`,
		Args: cobra.NoArgs,
		RunE: c.online(func(ctx context.Context, api *apiclient.API, _ []string) error {
			began := time.Now()
			me, err := apiclient.Decode[apiclient.Me](api.Me(ctx))
			if err != nil {
				return err
			}
			took := time.Since(began)
			resp, err := api.GetDoctor(ctx)
			e, err := apiclient.Decode[examination](resp, err)
			if err != nil {
				return err
			}
			e.Findings = append(seenFromHere(resp, &e, &me, took, time.Now()), e.Findings...)
			e.Status = worst(e.Findings)
			if err := c.showExamination(&e); err != nil {
				return err
			}
			if e.Status == "failing" {
				return exitError(exitJobFailed)
			}
			return nil
		}),
	}
}

// worst returns the worst status of the findings.
func worst(all []finding) string {
	statuses := []string{"ok", "unknown", "warning", "failing"}
	rank := 0
	for i := range all {
		rank = max(rank, slices.Index(statuses, all[i].Status))
	}
	return statuses[rank]
}

// seenFromHere returns the findings that only the client can make.
func seenFromHere(resp *http.Response, e *examination, me *apiclient.Me, took time.Duration, now time.Time) []finding {
	var all []finding
	add := func(bad bool, check, text, advice string) {
		if bad {
			all = append(all, finding{Check: check, Status: "warning", Text: text, Advice: advice})
			return
		}
		all = append(all, finding{Check: check, Status: "ok", Text: text})
	}
	add(took > slowServer, "server", fmt.Sprintf("answered in %v, measured here", took.Round(time.Millisecond)),
		"Check the network between this machine and the server, and the server's load.")
	if e.Version != version {
		add(version != "dev" && e.Version != "dev", "cronctl",
			fmt.Sprintf("cronctl has version %s, the server %s", version,
				e.Version), "Use cronctl of the server's version: an older one lacks newer features of the server.")
	}
	// The server's clock is compared with the local time in the middle of the request.
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		off := now.Sub(date).Truncate(time.Second)
		add(off.Abs() > clockWarns, "your_clock",
			fmt.Sprintf("the local clock differs from the server's by %v",
				off.Abs()), "Synchronise the clock of this machine with NTP. Displayed times are right, relative "+
				"ones such as --from -1h are not.")
	}
	if resp.TLS != nil && len(resp.TLS.PeerCertificates) > 0 {
		until := resp.TLS.PeerCertificates[0].NotAfter
		add(until.Sub(now) < certificateWarns, "server_certificate", "valid until "+when(until),
			"Renew the certificate of the server or proxy. Carillon loads a new one without a restart.")
	}
	if me.ExpiresAt != nil {
		add(me.ExpiresAt.Sub(now) < tokenWarns, "your_token", "valid until "+when(*me.ExpiresAt),
			"Sign in again: cronctl login.")
	}
	return all
}

func (c *cli) showExamination(e *examination) error {
	items, err := rawItems(e.Findings)
	if err != nil {
		return err
	}
	k := columnsOf("CHECK,STATUS,WHO,TEXT", func(f *finding, _ bool) []any {
		return []any{f.Check, f.Status, cmp.Or(f.Who, "-"), f.Text}
	})
	if err := k.show(c, e, items); err != nil || c.structured() {
		return err
	}
	said := false
	for _, f := range e.Findings {
		if f.Status == "ok" || f.Advice == "" {
			continue
		}
		if !said {
			fmt.Fprintln(c.stdout, "\nRemedies:")
			said = true
		}
		about := f.Check
		if f.Who != "" {
			about += " (" + f.Who + ")"
		}
		fmt.Fprintf(c.stdout, "  %s: %s\n", oneLine(about), oneLine(f.Advice))
	}
	c.showRecords(e.Records)
	return nil
}
