package runs

import (
	"testing"

	"carillon/internal/httpapi/core"
	"carillon/internal/runlog/tail"
)

func TestEventWriter_ReportsOutages(t *testing.T) {
	e := &eventWriter{out: &core.EventStream{}, known: true, lastID: 7}
	for _, away := range []bool{true, false} {
		if err := e.part(&tail.Part{Away: &away}); err != nil {
			t.Fatal(err)
		}
	}
	if got := e.out.Out.String(); got != "id: 7\nevent: away\ndata: {}\n\nid: 7\nevent: back\ndata: {}\n\n" {
		t.Errorf("%q", got)
	}
}
