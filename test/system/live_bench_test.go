package system

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkLiveOutput measures how long a line takes from the command that prints it to
// a client that follows its run over HTTP, at a real standalone: of a job that prints now
// and then, and of one that prints all the time.
func BenchmarkLiveOutput(b *testing.B) {
	_, a := standalone(b, b.TempDir())
	for name, pause := range map[string]string{"now-and-then": "1.37", "each-300-ms": "0.3", "each-20-ms": "0.02"} {
		b.Run(name, func(b *testing.B) {
			a := &api{t: b, base: a.base, token: a.token}
			a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
				"name":    name,
				"command": "while :; do date +%s%N; sleep " + pause + "; done",
			}, nil)
			var accepted struct{ Run string }
			a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/"+name+"/run", map[string]string{}, &accepted)
			stream := a.stream(accepted.Run, "")
			stream.next() // its start may be in it
			var took []time.Duration
			for b.Loop() {
				for began := time.Now(); time.Since(began) < 40*time.Second; {
					before := len(stream.text)
					if !stream.next() || stream.end != nil {
						b.Fatalf("the stream ended: %+v", stream.end)
					}
					now := time.Now()
					for line := range strings.Lines(stream.text[before:]) {
						at, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
						if err != nil {
							b.Fatal(err)
						}
						took = append(took, now.Sub(time.Unix(0, at)))
					}
				}
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2].Seconds(), "s-p50")
			b.ReportMetric(took[len(took)*99/100].Seconds(), "s-p99")
			b.ReportMetric(took[len(took)-1].Seconds(), "s-max")
			b.ReportMetric(0, "ns/op")
			a.do(http.StatusNoContent, http.MethodDelete, "/api/v1/jobs/"+name+"?kill=true", nil, nil)
		})
	}
}
