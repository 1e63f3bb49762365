package flow

import (
	"strings"
	"testing"

	"carillon/internal/common"
)

// given is what the expressions of the tests read, by reference.
var given = map[string]fact{
	"params.DAY": {text: "today"}, "params.SIZE": {text: " 10\t"}, "params.BIG": {text: "1e400"},
	"run.id": {text: "u.1"}, "run.cause": {text: "cron"}, "run.plannedAt": {text: "2026-01-02T03:04:05Z"},
	"run.attempt":        countOf(2),
	"steps.probe.status": {text: "failed"}, "steps.probe.exitCode": countOf(28), "steps.probe.attempt": countOf(3),
	"steps.probe.outputs.day": {text: "monday"}, "steps.probe.outputs.rows": {text: "10"},
	"steps.probe.outputs.ratio": {text: "-.5e1"},
	"steps.a-b.status":          {text: "skipped"}, "steps.a-b.exitCode": countOf(-1),
	"steps.m.items": countOf(10), "steps.m.failed": countOf(2),
}

func look(ref reference) (fact, error) {
	f, found := given[ref.String()]
	if !found {
		return fact{}, &missingValue{ref, "it was not written"}
	}
	return f, nil
}

func TestExpressions(t *testing.T) {
	for source, want := range map[string]bool{
		`true`: true,
		`steps.probe.exitCode == 28 || params.DAY != 'yesterday'`: true,
		`steps.probe.exitCode == 0 && params.DAY == "today"`:      false,
		`steps.probe.status in ["failed", "lost"]`:                true,
		`steps.probe.exitCode in [7, 28]`:                         true,
		`not (steps.probe.exitCode in [7])`:                       true,
		`steps["a-b"].status == "skipped"`:                        true,
		`steps["a-b"].exitCode == -1`:                             true,
		`steps.m.items > 5 and steps.m.failed <= 2`:               true,
		`steps.probe.outputs.day matches "^mon"`:                  true,
		`steps.probe.outputs["day"] startsWith "tues"`:            false,
		`params.DAY endsWith "day" && params.DAY contains "od"`:   true,
		`run.attempt >= 2 && run.cause == "cron"`:                 true,
		`run.plannedAt < "2026-02"`:                               true,
		`!(run.id == "u.1")`:                                      false,
		`steps.probe.outputs.rows > 9`:                            true, // as texts, "10" comes before "9"
		`steps.probe.outputs.rows == 10.0`:                        true,
		`9 < steps.probe.outputs.rows && params.SIZE == 10`:       true,
		`steps.probe.outputs.rows in [9, 10]`:                     true,
		`steps.probe.outputs.rows in ["9", "10"]`:                 true,
		`steps.probe.outputs.rows > "9"`:                          false,
		`steps.probe.outputs.ratio == -5`:                         true,
		`steps.probe.outputs.ratio < -4.5`:                        true,
		`steps.probe.outputs.ratio in [-5, 7]`:                    true,
		`steps.probe.outputs.rows >= steps.m.items`:               true,
		`params.DAY == "today" || steps.gone.outputs.k == "x"`:    true, // the right side is not read
		`2 < steps.probe.attempt`:                                 true,
	} {
		x, err := newEvaluator().compile(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got, err := x.eval(look); got != want || err != nil {
			t.Errorf("%s is %v, %v, want %v", source, got, err, want)
		}
	}
}

func TestExpressions_Rejected(t *testing.T) {
	for _, source := range []string{
		``, ` `, `(`, `1`, `"a"`, `params.DAY`, `steps.probe.exitCode`, `nil`, `params.DAY == nil`,
		`now() > 1`, `len(params.DAY) > 1`, `params.DAY.length() == 1`, `upper(params.DAY) == "A"`,
		`all(1..10, # > 1)`, `any([1], true)`, `filter([1], true) == []`, `1..1000000 == []`, `let x = true; x`,
		`true ? true : false`, `true; true`, `params?.DAY == ""`, `params.DAY ?? "" == ""`, `if true {true} else {false}`,
		`steps.probe.exitCode + 1 == 2`, `2 ** 1000000 == 1`, `1 / 0 == 1`, `1 % 0 == 1`, `"a" + "b" == "ab"`,
		`steps.a-b.status == ""`, `params["D" + "AY"] == ""`, `steps[params.DAY].status == ""`, `params == params`,
		`steps.probe == steps.probe`, `steps.probe.outputs == {}`, `steps.probe.stauts == ""`, `env.HOME == ""`, `$env == 1`,
		`run.secret == ""`, `steps.probe.exitCode == "28"`, `text(0) == "a"`,
		`params.DAY == 9007199254740993`, `params.DAY > -9007199254740993`, `params.DAY in [9007199254740993]`,
		`params.DAY in [!true]`, `steps.probe.outputs.rows == true`, `number(0) == 1`,
		`params.DAY matches params.DAY`, `params.DAY matches "("`, `params.DAY matches "(a{500}){500}"`,
		`params.DAY matches "` + strings.Repeat("a", 40) + `{900}"`, `params.DAY matches "(?=a)"`,
		`params.DAY in params.DAY`, `params.DAY in steps.probe.outputs`, `params.DAY in [params.DAY]`, `[1][0] == 1`,
		`params.DAY[0:1] == "a"`, `params.DAY | upper() == "A"`, `params.DAY not`, "params.DAY == \"\xff\"",
		"params.DAY == \"\x00\"", `true || ` + strings.Repeat("!", 600) + `true`,
		strings.Repeat("!", 40) + "true", strings.Repeat("(", 200) + "true" + strings.Repeat(")", 200) + " ==",
		`1 in [` + strings.Repeat("1,", 220) + `1]`, strings.Repeat("true||", 90) + "1",
	} {
		if x, err := newEvaluator().compile(source); err == nil {
			got, err := x.eval(look)
			t.Errorf("%.80q is accepted; it is %v, %v", source, got, err)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%.80q: the error has several lines: %q", source, err)
		}
	}
}

// A value that does not exist, and a text that is not a number, are faults of the flow run, never empty or 0.
func TestExpressions_CannotBeEvaluated(t *testing.T) {
	for source, want := range map[string]string{
		`steps.gone.outputs.k == ""`: "the value steps.gone.outputs.k does not exist: it was not written",
		`!(steps.gone.outputs.k in ["a"]) && params.DAY == "today"`: "the value steps.gone.outputs.k does not " +
			"exist: it was not written",
		`steps.probe.outputs.day > 9`:  `the value of steps.probe.outputs.day, "monday", is not a number`,
		`params.DAY in [1, 2]`:         `the value of params.DAY, "today", is not a number`,
		`params.BIG > 1`:               `the value of params.BIG, "1e400", is not a number`,
		`steps.probe.status < 3`:       `the value of steps.probe.status, "failed", is not a number`,
		`steps.gone.outputs.rows != 1`: "the value steps.gone.outputs.rows does not exist: it was not written",
	} {
		x, err := newEvaluator().compile(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got, err := x.eval(look); err == nil || err.Error() != want {
			t.Errorf("%s is %v, %v, want %s", source, got, err, want)
		}
	}
}

// One expression must not use up the nodes of the next.
func TestExpressions_BoundIsPerExpression(t *testing.T) {
	e := newEvaluator()
	for i := range 300 {
		if _, err := e.compile(`params.DAY == "today"`); err != nil {
			t.Fatalf("expression %d: %v", i, err)
		}
	}
}

func TestTemplates(t *testing.T) {
	value := func(r reference) (string, error) { return "<" + r.String() + ">", nil }
	for in, want := range map[string]string{
		"plain":                             "plain",
		"${{ params.DAY }}":                 "<params.DAY>",
		"a${{steps.a-b.outputs.k}}b":        "a<steps.a-b.outputs.k>b",
		"${{ run.id }}${{ run.plannedAt }}": "<run.id><run.plannedAt>",
		"${{ steps.m.failed }} of }} {{ x":  "<steps.m.failed> of }} {{ x",
		"$HOME ${x} $(y) $${{ params.X }}":  "$HOME ${x} $(y) $<params.X>",
		"${{ params.X":                      "",
		"${{ }}":                            "",
		"${{ params }}":                     "",
		"${{ params. }}":                    "",
		"${{ env.HOME }}":                   "",
		"${{ steps.a.outputs }}":            "",
		"${{ steps.a.outputs.b.c }}":        "",
		"${{ params.X + 1 }}x":              "",
		"${{ ${{ params.X }} }}":            "",
	} {
		tpl, err := parseTemplate(in)
		if (err != nil) != (want == "") {
			t.Errorf("%q: %v", in, err)
		}
		if err != nil {
			continue
		}
		if got, err := tpl.render(value); got != want || err != nil {
			t.Errorf("%q becomes %q, %v, want %q", in, got, err, want)
		}
	}
}

// Values are inserted once: what they contain is not read again.
func TestTemplates_ValueWithAReference_IsInsertedVerbatim(t *testing.T) {
	tpl, err := parseTemplate("${{ params.A }}-${{ params.B }}")
	if err != nil {
		t.Fatal(err)
	}
	given := map[string]string{"A": "${{ params.B }}", "B": "$(id)"}
	got, err := tpl.render(func(r reference) (string, error) { return given[r.field], nil })
	if got != "${{ params.B }}-$(id)" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func FuzzExpression(f *testing.F) {
	for _, seed := range []string{"true", `steps.probe.exitCode == 28`, `params.DAY matches "^a+$"`, `1 in [1,2]`,
		`steps["a-b"].outputs.k != ''`, "((", "1..9", "!!!true", `"\u00e9" < 'x'`, "a?.b", "let a = 1; a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		x, err := newEvaluator().compile(source)
		if err != nil {
			return
		}
		// a value that does not exist, or is no number, is a fault of the flow run: nothing else may fail
		_, err = x.eval(func(ref reference) (fact, error) { return countOf(7), nil })
		if err != nil {
			t.Errorf("%q was compiled and fails: %v", source, err)
		}
		if len(source) > common.MaxWhen {
			t.Errorf("an expression of %d bytes was compiled", len(source))
		}
	})
}

func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{"", "a", "${{ params.X }}", "${{", "}}${{", "${{ steps.a.outputs.b }}${{ run.id }}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tpl, err := parseTemplate(text)
		if err != nil {
			return
		}
		if len(tpl.literals) != len(tpl.refs)+1 {
			t.Errorf("%q has %d literals and %d references", text, len(tpl.literals), len(tpl.refs))
		}
		if isTemplate(text) {
			return
		}
		if got, _ := tpl.render(nil); got != text {
			t.Errorf("%q changes", text)
		}
	})
}
