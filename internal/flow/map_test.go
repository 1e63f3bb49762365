package flow

import (
	"fmt"
	"strings"
	"testing"

	"carillon/internal/common"
)

func forEach(name string, f common.ForEach, after ...string) common.Step {
	return with(inline(name, after...), func(s *common.Step) { s.ForEach = &f })
}

func TestMaps(t *testing.T) {
	four := []string{"p", "q", "r", "s"}
	after := inline("z", "m")
	for _, c := range []struct {
		name string
		of   common.ForEach
		ends map[string]string
		want string
		most int
	}{
		{"all succeed", common.ForEach{Items: four}, nil,
			"m=succeeded m@00000=succeeded m@00001=succeeded m@00002=succeeded m@00003=succeeded z=succeeded", 4},
		{"one fails, and the others run", common.ForEach{Items: four}, map[string]string{"m@00001": "exit:1"},
			"m=failed m@00000=succeeded m@00001=failed m@00002=succeeded m@00003=succeeded z=upstream_failed", 4},
		{"some may fail", common.ForEach{Items: four, MaxFailures: 1}, map[string]string{"m@00001": "exit:1"},
			"m=succeeded m@00000=succeeded m@00001=failed m@00002=succeeded m@00003=succeeded z=succeeded", 4},
		{"one at a time", common.ForEach{Items: four, Concurrency: 1}, nil,
			"m=succeeded m@00000=succeeded m@00001=succeeded m@00002=succeeded m@00003=succeeded z=succeeded", 1},
		{"stops", common.ForEach{Items: four, Concurrency: 1, Stop: true}, map[string]string{"m@00001": "lost"},
			"m=failed m@00000=succeeded m@00001=lost m@00002=map_stopped m@00003=map_stopped z=upstream_failed", 1},
		{"no items", common.ForEach{Items: []string{}}, nil, "m=no_items z=succeeded", 0},
	} {
		r := newRig(t, compiled(t, steps(forEach("m", c.of), after)), outcomes(c.ends))
		end := r.run()
		if r.statuses() != c.want {
			t.Errorf("%s: %s, want %s", c.name, r.statuses(), c.want)
		}
		if r.most > max(c.most, 1) {
			t.Errorf("%s: %d items ran at the same time, at most %d", c.name, r.most, c.most)
		}
		if total := max(1, len(c.of.Items)) + 1; end.Counts.Total != total {
			t.Errorf("%s: %d nodes, want %d", c.name, end.Counts.Total, total)
		}
	}
}

func TestMap_ListOfAStep_HasANodePerLine(t *testing.T) {
	job := steps(
		with(inline("a"), func(s *common.Step) { s.Outputs = map[string]common.Output{"files": {List: true}} }),
		forEach("m", common.ForEach{List: "steps.a.outputs.files", As: "FILE"}, "a"),
		with(inline("z", "m"), func(s *common.Step) { s.Env = map[string]string{"N": "${{ steps.m.items }}"} }))
	r := newRig(t, compiled(t, job), nil)
	r.outcome = func(node string) common.Node {
		mark := ended("exit:0")
		if node == "a" {
			mark.Outputs = map[string]string{"files": "x y\n\n$(rm z)\r\n"}
		}
		return mark
	}
	r.run()
	for node, want := range map[string]string{"m@00000": "map[FILE:x y]", "m@00001": "map[FILE:$(rm z)]",
		"z": "map[N:2]"} {
		if got := fmt.Sprint(r.params[node]); got != want {
			t.Errorf("parameters of %s are %s, want %s", node, got, want)
		}
	}
}

func TestMap_ListThatCannotBeUsed_IsRefused(t *testing.T) {
	job := steps(
		with(inline("a"), func(s *common.Step) { s.Outputs = map[string]common.Output{"l": {List: true}} }),
		forEach("m", common.ForEach{List: "steps.a.outputs.l"}, "a"), inline("z", "m"))
	for name, list := range map[string]string{
		"too many":     strings.Repeat("x\n", 9_998),
		"too large":    strings.Repeat("x", 128<<10+1),
		"an item":      strings.Repeat("x", 4<<10+1),
		"not text":     "\xff",
		"a NUL in one": "a\x00b",
	} {
		r := newRig(t, compiled(t, job), nil)
		r.outcome = func(string) common.Node {
			mark := ended("exit:0")
			mark.Outputs = map[string]string{"l": list}
			return mark
		}
		if r.run(); r.statuses() != "a=succeeded m=items_invalid z=upstream_failed" {
			t.Errorf("%s: %.200s", name, r.statuses())
		}
	}
}

// Marks may be listed before those of the steps that make the items.
func TestMap_MarksOfItemsSeenFirst_Count(t *testing.T) {
	job := steps(
		with(inline("z"), func(s *common.Step) { s.Outputs = map[string]common.Output{"l": {List: true}} }),
		forEach("m", common.ForEach{List: "steps.z.outputs.l"}, "z"))
	r := newRig(t, compiled(t, job), outcomes(nil))
	r.put("m@00000", ended("exit:0"))
	r.put("m@00001", common.Node{State: common.NodeStarted, Round: 1})
	if w := r.state.Next(9); len(w.Settles) > 0 {
		t.Errorf("settles are %+v while an item runs", w.Settles)
	}
	source := ended("exit:0")
	source.Outputs = map[string]string{"l": "p\nq\nr"}
	r.put("z", source)
	if w := r.state.Next(9); len(w.Starts) != 1 || w.Starts[0].Node != "m@00002" {
		t.Errorf("starts are %+v, want m@00002", w.Starts)
	}
	r.put("m@00002", ended("exit:0"))
	r.put("m@00001", ended("exit:0"))
	if end := r.run(); end.Status != common.StatusSucceeded || end.Counts.Succeeded != 4 {
		t.Errorf("%+v: %s", end, r.statuses())
	}
}

// A map that stops after failures is started by what was seen of all its items, its own starts included.
func TestMap_ThatStops_StartsByTheNewestMarkOfItsItems(t *testing.T) {
	r := newRig(t, compiled(t, steps(inline("a"), forEach("m", common.ForEach{Items: []string{"p", "q", "r", "s"},
		Stop: true, Concurrency: 2}))), nil)
	if w := r.state.Next(9); len(w.Starts) != 3 || w.Starts[1].Node != "m@00000" || w.Starts[1].Seen != 0 ||
		!w.Starts[1].Stops() || w.Starts[0].Stops() {
		t.Fatalf("%+v", w.Starts)
	}
	started := common.Node{State: common.NodeStarted, Round: 1}
	r.put("a", started)
	r.put("m@00000", started)
	r.put("m@00000", ended("exit:0"))
	if w := r.state.Next(9); r.state.Pending() || len(w.Starts) > 0 {
		t.Errorf("%+v, and the mark of an item that was started before is still to come", w.Starts)
	}
	r.put("m@00001", started)
	r.put("a", ended("exit:0"))
	if w := r.state.Next(9); len(w.Starts) != 1 || w.Starts[0].Node != "m@00002" || w.Starts[0].Seen != 4 {
		t.Errorf("%+v", w.Starts)
	}
	r.state.Return("m@00002")
	r.put("m@00001", ended("exit:0"))
	w := r.state.Next(9)
	if len(w.Starts) != 2 || w.Starts[0].Node != "m@00002" || w.Starts[0].Seen != 6 {
		t.Errorf("after a refusal: %+v", w.Starts)
	}
	again := New(r.state.graph, &r.head) // as another keeper loads it
	if again.Load(r.marks); again.Next(9).Starts[0].Seen != 6 {
		t.Error("what was loaded is not seen")
	}
}

func TestMap_TooManyItems_AreRefusedWithTheLimitOfTheFlow(t *testing.T) {
	g := compiled(t, steps(
		with(inline("a"), func(s *common.Step) { s.Outputs = map[string]common.Output{"l": {List: true}} }),
		forEach("m", common.ForEach{List: "steps.a.outputs.l"}, "a"),
		forEach("n", common.ForEach{List: "steps.a.outputs.l"}, "a")))
	r := newRig(t, g, nil)
	mark := ended("exit:0")
	mark.Outputs = map[string]string{"l": strings.Repeat("x\n", 6000)}
	r.put("a", mark)
	w := r.state.Next(9)
	if want := fmt.Sprintf("more than %d items", g.mapShare); g.mapShare > 5000 || len(w.Starts) != 2 ||
		w.Starts[0].Refuse != common.ReasonItemsInvalid || !strings.Contains(w.Starts[0].Text, want) {
		t.Errorf("%+v, want %q", w.Starts, want)
	}
}
