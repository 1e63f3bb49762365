package flow

import (
	"fmt"
	"runtime"
	"testing"

	"carillon/internal/common"
)

// layered returns a flow of 10,000 steps in 100 layers, each step with three parents and every tenth with a condition.
func layered() *common.Job {
	job := &common.Job{Name: "f"}
	name := func(layer, n int) string { return fmt.Sprintf("s%02d-%02d", layer, n%100) }
	for layer := range 100 {
		for n := range 100 {
			s := common.Step{Name: name(layer, n), Args: []string{"/bin/true"}}
			if layer > 0 {
				for _, source := range []int{n, n + 1, n + 7} {
					s.After = append(s.After, common.Edge{Step: name(layer-1, source)})
				}
				s.Env = map[string]string{"CODE": "${{ steps." + name(layer-1, n) + ".exitCode }}"}
				if n%10 == 0 {
					s.When = fmt.Sprintf(`steps["%s"].exitCode == 0`, name(layer-1, n))
				}
			}
			job.Steps = append(job.Steps, s)
		}
	}
	return job
}

// BenchmarkLoad measures what a worker does at its first use of a flow of 10,000 steps: decode and compile the body,
// and apply all marks. keeper-MiB is the memory of the state.
func BenchmarkLoad(b *testing.B) {
	job := layered()
	parts, digest, err := Encode(job)
	if err != nil {
		b.Fatal(err)
	}
	marks := make([]Mark, len(job.Steps))
	for i := range marks {
		mark := ended("exit:0")
		mark.Job, mark.Fire = "f:"+job.Steps[i].Name, fmt.Sprintf("aaaaaaaaaaaaaaaa.n%016d", i)
		marks[i] = Mark{job.Steps[i].Name, mark, int64(i + 1)}
	}
	var graph *Graph
	var state *State
	for b.Loop() {
		def, err := Decode(parts, digest)
		if err != nil {
			b.Fatal(err)
		}
		if graph, err = Compile(&def.Job); err != nil {
			b.Fatal(err)
		}
		state = New(graph, &common.Head{Run: "r"})
		state.Load(marks)
	}
	b.StopTimer()
	if state.Next(1).Complete == nil {
		b.Fatal("the flow run is not complete")
	}
	used := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	with := used()
	runtime.KeepAlive(state)
	state = nil
	b.ReportMetric(float64(with-used())/(1<<20), "keeper-MiB")
	with = used()
	runtime.KeepAlive(graph)
	graph = nil
	b.ReportMetric(float64(with-used())/(1<<20), "graph-MiB")
}

// BenchmarkValidate measures a save of 10,000 steps.
func BenchmarkValidate(b *testing.B) {
	job := layered()
	for b.Loop() {
		if faults := Validate(job); len(faults) > 0 {
			b.Fatal(faults[0])
		}
		if _, _, err := Encode(job); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEvents measures a whole flow run of 10,000 nodes, event by event.
func BenchmarkEvents(b *testing.B) {
	job := layered()
	job.Concurrency = 1000
	graph, err := Compile(job)
	if err != nil {
		b.Fatal(err)
	}
	done := ended("exit:0")
	for b.Loop() {
		state := New(graph, &common.Head{Run: "r"})
		revision := int64(0)
		for {
			w := state.Next(100)
			if w.Complete != nil {
				break
			}
			for _, start := range w.Starts {
				for _, mark := range []common.Node{{State: common.NodeStarted, Round: 1}, done} {
					revision++
					if err := state.Apply(start.Node, mark, revision); err != nil {
						b.Fatal(err)
					}
				}
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(job.Steps)), "µs/node")
}
