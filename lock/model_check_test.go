package lock

import (
	"bytes"
	"fmt"
	"maps"
	"sort"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"

	"carillon/internal/common"
)

func dropCompares(r *pb.TxnRequest, prefix string) {
	var kept []*pb.Compare
	for _, c := range r.Compare {
		if !under(c.Key, prefix) {
			kept = append(kept, c)
		}
	}
	r.Compare = kept
}

// noGraceIn shows owners with a grace period of zero.
func noGraceIn(got []*pb.RangeResponse) {
	for _, resp := range got {
		for _, kv := range resp.Kvs {
			if string(kv.Key) == common.LockOwnerKey(modelLock) {
				kv.Value = bytes.ReplaceAll(kv.Value, []byte(`"grace":"25s"`), []byte(`"grace":"0s"`))
			}
		}
	}
}

// check returns which promises are broken.
func check(w *world, d *diary) (broken []string) {
	complain := func(promise, format string, args ...any) {
		broken = append(broken, promise+": "+fmt.Sprintf(format, args...))
	}
	checkWorks(d, complain)
	tokens := checkHistory(w, complain)
	checkCalls(d, tokens, complain)
	return broken
}

// checkWorks compares the work of all clients: L2.
func checkWorks(d *diary, complain func(promise, format string, args ...any)) {
	sort.Slice(d.works, func(i, j int) bool { return d.works[i].began.Before(d.works[j].began) })
	for i := 1; i < len(d.works); i++ {
		if before, w := d.works[i-1], d.works[i]; before.ended.After(w.began) {
			complain("L2", "%s worked until %v, and %s from %v", before.client, before.ended, w.client, w.began)
		}
	}
}

// acquisition is a change of the owner, as etcd recorded it.
type acquisition struct{ token, tookOver int64 }

// checkHistory checks L1, L3, L4 and L5, and returns the acquisitions by the id of the client.
func checkHistory(w *world, complain func(promise, format string, args ...any)) map[string]acquisition {
	tokens := map[string]acquisition{}
	queue := map[string]int64{} // CreateRevision by session
	var owner common.LockOwner
	var last int64 // token
	var holder string
	var gone time.Time // of the holder
	for _, group := range byRevision(w.history) {
		before := map[string]int64{}
		maps.Copy(before, queue)
		var put *common.LockOwner
		var mod int64
		wasHolder := holder
		for _, e := range group {
			_, part, _ := common.ParseLockKey(string(e.Kv.Key))
			deleted := e.Type == mvccpb.Event_DELETE
			session, waits := strings.CutPrefix(part, "queue/")
			switch {
			case waits && deleted:
				delete(queue, session)
			case waits:
				queue[session] = e.Kv.CreateRevision
			case part == "holder" && deleted:
				holder, gone = "", e.at
			case part == "holder":
				if e.Kv.Version != 1 {
					complain("L1", "the holder was overwritten at revision %d", e.Kv.ModRevision)
				}
				h, _ := common.Decode[common.LockHolder](e.Kv.Value)
				holder = h.Session
			case part == "owner" && !deleted:
				o, _ := common.Decode[common.LockOwner](e.Kv.Value)
				put, mod = &o, e.Kv.ModRevision
			}
		}
		if put == nil {
			continue
		}
		if put.Session != owner.Session { // a new owner
			token := mod
			if token <= last {
				complain("L4", "token %d of %s after %d", token, put.ID, last)
			}
			if owner.State == common.LockHeld {
				if away := group[0].at.Sub(gone); wasHolder != "" || away < modelGrace {
					complain("L3", "%s took over from %s after %v", put.ID, owner.ID, away)
				}
			}
			for session, created := range before {
				if mine, in := before[put.Session]; session != put.Session && (!in || created < mine) {
					complain("L5", "%s overtook a waiter at revision %d", put.ID, mod)
				}
			}
			a := acquisition{token: token}
			if put.TookOver != nil {
				a.tookOver = put.TookOver.Token
			}
			tokens[put.ID], last = a, token
		}
		owner = *put
	}
	return tokens
}

// byRevision groups the changes of each transaction.
func byRevision(history []event) (groups [][]event) {
	for _, e := range history {
		if n := len(groups); n > 0 && groups[n-1][0].Kv.ModRevision == e.Kv.ModRevision {
			groups[n-1] = append(groups[n-1], e)
			continue
		}
		groups = append(groups, []event{e})
	}
	return groups
}

// Calls of the clients, and their results.
type (
	action string
	result string
	input  struct {
		action action
		client string
	}
)

const (
	acquire action = "acquire"
	release action = "release"
	done    result = "done"
	unknown result = "unknown" // it may have had its effect
)

// owned is the state of a lock as its clients see it.
type owned struct {
	token int64
	held  bool
}

// checkCalls checks that the results of the calls are those of one lock: each acquisition finds it free or takes over
// from the owner that it names, and each release finds its own client as the owner.
func checkCalls(d *diary, tokens map[string]acquisition, complain func(promise, format string, args ...any)) {
	model := porcupine.Model{
		Init: func() any { return owned{} },
		Step: func(state, in, out any) (bool, any) {
			s, call := state.(owned), in.(input)
			a, acquired := tokens[call.client]
			applies := acquired
			switch call.action {
			case acquire:
				free := !s.held && a.tookOver == 0
				applies = applies && (free || s.held && a.tookOver == s.token)
			case release:
				applies = applies && s == owned{a.token, true}
			}
			if !applies {
				return out.(result) == unknown, s
			}
			return true, owned{a.token, call.action == acquire}
		},
	}
	if res := porcupine.CheckOperationsTimeout(model, d.calls, time.Minute); res == porcupine.Illegal {
		complain("linearizability", "%d calls are not those of one lock", len(d.calls))
	}
}
