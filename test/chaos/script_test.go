package main

import (
	"reflect"
	"slices"
	"testing"
	"time"
)

func TestFaults_HaveUniqueNames(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range faults() {
		if seen[f.name] || f.name == "" || f.about == "" || f.run == nil || f.takes <= 0 {
			t.Errorf("%q: %+v", f.name, f)
		}
		seen[f.name] = true
	}
	if _, err := named("kill-worker"); err != nil {
		t.Error(err)
	}
	if _, err := named("nothing"); err == nil {
		t.Error("an unknown fault was found")
	}
}

// plain is a script without what cannot be compared.
func plain(script []scheduled) (all []string) {
	for _, s := range script {
		all = append(all, s.name, s.at.String(), time.Duration(s.worker).String(), time.Duration(s.seed).String())
	}
	return all
}

func TestMix_SameSeed_SameFaults(t *testing.T) {
	one, same, other := mix(7, mixLength, mixable()), mix(7, mixLength, mixable()), mix(8, mixLength, mixable())
	if !reflect.DeepEqual(plain(one), plain(same)) || reflect.DeepEqual(plain(one), plain(other)) {
		t.Fatalf("%v\n%v\n%v", plain(one), plain(same), plain(other))
	}
}

func TestMixKeepsFaultsApart(t *testing.T) {
	met := map[string]bool{}
	for seed := range uint64(200) {
		script := mix(seed, mixLength, mixable())
		if len(script) < 3 {
			t.Errorf("seed %d: only %d faults", seed, len(script))
		}
		for i := range script {
			s := &script[i]
			met[s.name] = true
			if s.at < 0 || s.at+s.takes > mixLength || s.alone {
				t.Errorf("seed %d: %s at %v for %v", seed, s.name, s.at, s.takes)
			}
			beside := 0
			for k := range i {
				before := &script[k]
				if before.at+before.takes <= s.at {
					continue
				}
				beside++
				for _, thing := range before.things() {
					if slices.Contains(s.things(), thing) {
						t.Errorf("seed %d: %s and %s at the same %s", seed, before.name, s.name, thing)
					}
				}
			}
			if beside > 1 {
				t.Errorf("seed %d: %d others beside %s", seed, beside, s.name)
			}
		}
	}
	for _, f := range mixable() {
		if !met[f.name] {
			t.Errorf("%s is in none of 200 mixes", f.name)
		}
	}
}

func TestQuickScript_IsShort(t *testing.T) {
	script, err := quick(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range script {
		if s.at+s.takes > 45*time.Second {
			t.Errorf("%s ends after %v", s.name, s.at+s.takes)
		}
	}
}

func TestShare_Set(t *testing.T) {
	var s share
	for _, text := range []string{"", "0/2", "3/2", "x"} {
		if s.Set(text) == nil {
			t.Errorf("%q was taken", text)
		}
	}
	if err := s.Set("2/3"); err != nil || s != (share{2, 3}) {
		t.Errorf("%v, %v", s, err)
	}
}

// A soak mixes faults that take long, on the usual stack: not what makes etcd forget, or ask for passwords.
func TestSoak_OmitsFaultsOfEtcdsState(t *testing.T) {
	for _, name := range []string{"etcd-restored", "etcd-tokens-expire"} {
		if _, err := named(name); err != nil {
			t.Error(err)
		}
		if slices.ContainsFunc(promised(), func(f fault) bool { return f.name == name }) {
			t.Errorf("%s is in the soak", name)
		}
	}
}
