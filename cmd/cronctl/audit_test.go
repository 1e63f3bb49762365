package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"carillon/internal/apiclient"
)

// chainOf makes a chain of so many links after an anchor.
func chainOf(n int, after apiclient.AuditAnchor) []apiclient.AuditLink {
	links := make([]apiclient.AuditLink, n)
	for i := range links {
		text := fmt.Sprintf(`{"n":%d}`, i)
		sum := sha256.Sum256([]byte(after.Hash + text))
		links[i] = apiclient.AuditLink{
			Seq:      after.Seq + 1,
			Id:       fmt.Sprint("id", i),
			Previous: after.Hash,
			Text:     text,
			Hash:     hex.EncodeToString(sum[:]),
		}
		after = apiclient.AuditAnchor{Seq: links[i].Seq, Hash: links[i].Hash}
	}
	return links
}

// verifying serves links in steps of three, as a server does that finds nothing wrong.
func (s *stage) verifying(links []apiclient.AuditLink, kept, head apiclient.AuditAnchor, args ...string) result {
	s.t.Helper()
	return s.verifyingRestored(links, kept, head, nil, args...)
}

// verifyingRestored serves them as a server does whose etcd was restored.
func (s *stage) verifyingRestored(links []apiclient.AuditLink, kept, head apiclient.AuditAnchor,
	restored *apiclient.AuditGap, args ...string) result {
	s.t.Helper()
	environ := s.between(func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		from, err := strconv.ParseInt(r.URL.Query().Get("from"), 10, 64)
		if err != nil || from <= kept.Seq {
			from = kept.Seq + 1
		}
		step := apiclient.AuditStep{From: from, To: from - 1, Intact: true, Faults: []apiclient.AuditFault{},
			Head: head, Kept: kept, Restored: restored}
		var sent []apiclient.AuditLink
		for _, l := range links {
			if l.Seq >= from && len(sent) < 3 {
				sent, step.To = append(sent, l), l.Seq
			}
		}
		step.Checked, step.Links = int64(len(sent)), &sent
		step.More = len(sent) > 0 && step.To < links[len(links)-1].Seq
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(step)
	})
	return s.runWith(environ, append([]string{"audit", "verify"}, args...)...)
}

func TestAuditVerify(t *testing.T) {
	s := newStage(t)
	end := func(links []apiclient.AuditLink) apiclient.AuditAnchor {
		last := links[len(links)-1]
		return apiclient.AuditAnchor{Seq: last.Seq, Hash: last.Hash}
	}
	kept := apiclient.AuditAnchor{Seq: 4, Hash: strings.Repeat("ab", 32)}
	links := chainOf(8, kept)
	head := end(links)
	s.verifying(links, kept, head).want(t, exitOK, "intact: verified 8 entries, from 5 to 12",
		fmt.Sprintf("head of the chain: 12:%s", head.Hash))
	// Entries that a restored etcd has forgotten are named; only they may follow the end that etcd knows.
	forgot := apiclient.AuditAnchor{Seq: links[5].Seq, Hash: links[5].Hash}
	s.verifyingRestored(links, kept, forgot, &apiclient.AuditGap{From: 11, To: 12}).
		want(t, exitOK, "intact: verified 8 entries", "forgotten entries 11 to 12")
	s.verifyingRestored(links, kept, forgot, &apiclient.AuditGap{From: 6, To: 7}).
		want(t, exitJobFailed, "NOT intact", "end at 12")
	s.verifying(links, kept, forgot).want(t, exitJobFailed, "NOT intact", "end at 12")
	anchor := fmt.Sprintf("%d:%s", links[3].Seq, links[3].Hash)
	s.verifying(links, kept, head, "--anchor", anchor).want(t, exitOK)
	s.verifying(links, kept, head, "--from", "7", "--anchor", anchor).want(t, exitOK, "from 7")
	s.verifying(links, kept, head, "--anchor", "4:"+kept.Hash).want(t, exitOK)
	s.verifying(links, kept, head, "--anchor", fmt.Sprintf("99:%s", head.Hash)).want(t, exitJobFailed, "NOT intact",
		"anchor not found")
	s.verifying(links, kept, head, "--anchor", "12").want(t, exitUsage)
	for name, spoil := range map[string]func(l []apiclient.AuditLink) []apiclient.AuditLink{
		"altered": func(l []apiclient.AuditLink) []apiclient.AuditLink { l[4].Text = `{"n":44}`; return l },
		"missing": func(l []apiclient.AuditLink) []apiclient.AuditLink { return append(l[:4:4], l[5:]...) },
		"broken": func(l []apiclient.AuditLink) []apiclient.AuditLink {
			return append(l[:4:4], chainOf(4, apiclient.AuditAnchor{Seq: l[3].Seq, Hash: "x"})...)
		},
		"end": func(l []apiclient.AuditLink) []apiclient.AuditLink { return l[:6] },
	} {
		s.verifying(spoil(chainOf(8, kept)), kept, head).want(t, exitJobFailed, name+" at", "NOT intact")
	}
	// A chain that was made anew from the beginning fits together; only the anchor tells.
	other := chainOf(8, apiclient.AuditAnchor{Seq: 4, Hash: strings.Repeat("cd", 32)})
	made := apiclient.AuditAnchor{Seq: 4, Hash: strings.Repeat("cd", 32)}
	s.verifying(other, made, end(other)).want(t, exitOK)
	s.verifying(other, made, end(other), "--anchor", anchor).want(t, exitJobFailed, "was rebuilt")
}

func TestAuditNote_OfRequests_IsThatWhichTheyHaveWritten(t *testing.T) {
	for _, c := range []struct{ entry, want string }{
		{`{"verb":"rollback","kind":"job","actor":{"name":"a","note":"it broke"},"after":{"pauseNote":"x"}}`, "it broke"},
		{`{"verb":"run","kind":"job","actor":{"name":"a"},"after":{"note":"by hand","accept":["load"]}}`, "by hand"},
		{`{"verb":"pause","kind":"job","actor":{"name":"a"},"after":{"pauseNote":"moving"}}`, "moving"},
		{`{"verb":"replace","kind":"job","actor":{"name":"a"},"after":{"pauseNote":"moving"}}`, ""},
		{`{"verb":"approve","kind":"run","actor":{"name":"a"},"after":{"step":"release","note":"ok"}}`, "release: ok"},
		{`{"verb":"reject","kind":"run","actor":{"name":"a"},"after":{"step":"release","note":""}}`, "release"},
		{`{"verb":"delete","kind":"job","actor":{"name":"a"}}`, ""},
	} {
		var e apiclient.AuditEntry
		if err := json.Unmarshal([]byte(c.entry), &e); err != nil {
			t.Fatal(err)
		}
		if got := noteOf(&e); got != c.want {
			t.Errorf("%s: %q, want %q", c.entry, got, c.want)
		}
	}
}
