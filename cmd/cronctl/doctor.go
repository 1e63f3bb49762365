package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

const (
	// Our clock and the server's may be so far apart.
	clockWarns = 5 * time.Second
	// The server's certificate and our token are told of so long before their end.
	certificateWarns = 21 * 24 * time.Hour
	tokenWarns       = 7 * 24 * time.Hour
	slowServer       = time.Second
)

// finding is one of the server's, or one of ours.
type finding struct {
	Check  string          `json:"check"`
	Status string          `json:"status"`
	Who    string          `json:"who,omitempty"`
	Text   string          `json:"text"`
	Advice string          `json:"advice,omitempty"`
	Data   json.RawMessage `json:"data,omitempty"`
}

// examination is what the server found, and then what was found from here.
type examination struct {
	At       time.Time `json:"at"`
	Master   string    `json:"master,omitempty"`
	Version  string    `json:"version"`
	Status   string    `json:"status"`
	Findings []finding `json:"findings"`
}

func (c *cli) doctor() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Look at all that the cluster depends on, and say what to do about each fault",
		Long: `doctor looks, from here, at the way to the server (its answer, its certificate, the
clocks, your token), and lets the server look at etcd (members, versions, space), the
clocks, the watch, the log store, certificates, workers, masters, the audit chain and
every degraded mode. Below the list it says what to do about each fault.

Its exit code is 1 where something is failing, and 0 where all is well or there are
only warnings.`,
		Example: `  cronctl doctor
  cronctl doctor -o json | jq '.findings[] | select(.status != "ok")'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			api, err := c.api()
			if err != nil {
				return err
			}
			began := time.Now()
			me, err := apiclient.Decode[apiclient.Me](api.Me(cmd.Context()))
			if err != nil {
				return err
			}
			took := time.Since(began)
			resp, err := api.GetDoctor(cmd.Context())
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
		},
	}
}

// worst is what findings come to.
func worst(all []finding) string {
	rank := map[string]int{"ok": 0, "unknown": 1, "warning": 2, "failing": 3}
	status := "ok"
	for i := range all {
		if rank[all[i].Status] > rank[status] {
			status = all[i].Status
		}
	}
	return status
}

// seenFromHere is what the server cannot see.
func seenFromHere(resp *http.Response, e *examination, me *apiclient.Me, took time.Duration, now time.Time) []finding {
	var all []finding
	add := func(bad bool, check, text, advice string) {
		if bad {
			all = append(all, finding{Check: check, Status: "warning", Text: text, Advice: advice})
			return
		}
		all = append(all, finding{Check: check, Status: "ok", Text: text})
	}
	add(took > slowServer, "server", fmt.Sprintf("it answers within %v, from here", took.Round(time.Millisecond)), "Look at the network between here and the server, and at the server's load.")
	if e.Version != version {
		add(version != "dev" && e.Version != "dev", "cronctl", fmt.Sprintf("it is of version %s, and the server of version %s", version, e.Version), "Use a cronctl of the server's version: an older one knows less than the server.")
	}
	// The server's clock is compared with ours in the middle of the question.
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		off := now.Sub(date).Truncate(time.Second)
		add(off.Abs() > clockWarns, "your_clock", fmt.Sprintf("the clock here is %v apart from the server's", off.Abs()), "Set the clock of this machine by NTP; times that cronctl shows are right, but --from -1h is not.")
	}
	if resp.TLS != nil && len(resp.TLS.PeerCertificates) > 0 {
		until := resp.TLS.PeerCertificates[0].NotAfter
		add(until.Sub(now) < certificateWarns, "server_certificate", "it is good until "+when(until), "Renew the server's certificate, or the proxy's: then it is taken up without a restart.")
	}
	if me.ExpiresAt != nil {
		add(me.ExpiresAt.Sub(now) < tokenWarns, "your_token", "it is good until "+when(*me.ExpiresAt), "Log in again: cronctl login.")
	}
	return all
}

func (c *cli) showExamination(e *examination) error {
	items := make([]json.RawMessage, len(e.Findings))
	for i := range e.Findings {
		item, err := json.Marshal(e.Findings[i])
		if err != nil {
			return &common.Error{Code: common.CodeInternal, Message: "the findings cannot be written", Err: err}
		}
		items[i] = item
	}
	err := show(c, e, items, []string{"CHECK", "STATUS", "WHO", "TEXT"}, func(f finding) []string {
		return []string{f.Check, f.Status, or(f.Who, "-"), f.Text}
	})
	if err != nil || c.format == "json" || c.format == "yaml" {
		return err
	}
	said := false
	for _, f := range e.Findings {
		if f.Status == "ok" || f.Advice == "" {
			continue
		}
		if !said {
			fmt.Fprintln(c.stdout, "\nWhat to do:")
			said = true
		}
		about := f.Check
		if f.Who != "" {
			about += " (" + f.Who + ")"
		}
		fmt.Fprintf(c.stdout, "  %s: %s\n", oneLine(about), oneLine(f.Advice))
	}
	return nil
}
