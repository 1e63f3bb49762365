package tail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
)

func TestOutputComesWhileTheRunGoesOn(t *testing.T) {
	bubble(t, Config{}, func(r *rig) {
		r.be("a", common.StatusWaiting, 0)
		f := r.follow(Place{})
		f.read(time.Hour).want("") // it waits
		r.be("a", common.StatusRunning, 0)
		for i := range 20 {
			r.print("a", fmt.Sprintf("line %d\n", i))
			f.read(1100 * time.Millisecond)
			if !strings.HasSuffix(f.text, fmt.Sprintf("line %d\n", i)) {
				r.t.Fatalf("after line %d: %q", i, f.text)
			}
		}
		r.print("a", "last\n")
		r.be("a", common.StatusFailed, int64(len(f.text)+5))
		f.read(time.Minute).ended(common.StatusFailed, int64(len(f.text)), true)
		if !strings.HasSuffix(f.text, "line 19\nlast\n") ||
			!slices.Equal(f.runs, []common.Status{"waiting", "running"}) {
			r.t.Errorf("%v, %q", f.runs, f.text)
		}
	})
}

func TestFollow_Places(t *testing.T) {
	bubble(t, Config{}, func(r *rig) {
		for i := range 10 {
			r.print("a", fmt.Sprintf("%d........\n", i))
		}
		first := r.follow(Place{})
		all := first.read(time.Second).text
		if len(all) != 100 {
			r.t.Fatal(all)
		}
		for _, at := range []int64{0, 1, 15, 99, 100} { // beside the first one, which shares the window
			f := r.follow(Place{Offset: at})
			f.read(time.Second).want(all[at:])
			f.Close()
		}
		for _, tail := range []int64{1, 15, 100, 1000} {
			f := r.follow(Place{Tail: tail})
			f.read(time.Second).want(all[max(0, 100-tail):])
			f.Close()
		}
		first.Close()
		alone := r.follow(Place{Tail: 25})
		alone.read(time.Second).want(all[75:])
		alone.Close()

		// A position that was read at another master already, and one that will never exist.
		ahead, beyond := r.follow(Place{Offset: 105}), r.follow(Place{Offset: 1 << 40})
		ahead.read(time.Minute).want("")
		r.print("a", "0123456789")
		ahead.read(time.Second).want("56789")
		r.be("a", common.StatusSucceeded, 110)
		ahead.read(time.Second*2).ended(common.StatusSucceeded, 110, true)
		beyond.read(time.Minute).want("").ended(common.StatusSucceeded, 110, true)
	})
}

// The longest output is read from any position, whatever its chunks.
func TestLongOutput(t *testing.T) {
	for name, size := range map[string]int{"full chunks": common.MaxChunk, "lines": 80, "bytes": 1} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Config{}, func(r *rig) {
				n := min(4<<20/size, 20_000)
				random := rand.New(rand.NewPCG(1, 2))
				var whole bytes.Buffer
				for range n {
					text := bytes.Repeat([]byte{byte('a' + random.IntN(26))}, size)
					whole.Write(text)
					c := common.Chunk{
						Run:    "a",
						Offset: int64(whole.Len() - size),
						Stream: common.Stdout,
						At:     time.Now(),
						Data:   text,
					}
					r.chunks["a"] = append(r.chunks["a"], c)
				}
				running := r.follow(Place{})
				if running.read(time.Second); running.text != whole.String() {
					r.t.Fatalf("%d of %d bytes", len(running.text), whole.Len())
				}
				if running.largest > 256<<10 {
					r.t.Errorf("%d bytes at once", running.largest)
				}
				running.Close()
				end := r.follow(Place{Tail: 1000})
				if end.read(time.Second); end.text != whole.String()[whole.Len()-1000:] {
					r.t.Errorf("the end is %d bytes", len(end.text))
				}
				end.Close()
				r.be("a", common.StatusSucceeded, int64(whole.Len()))
				r.set(func() { r.reads = 0 })
				done := r.follow(Place{Tail: 1000})
				done.read(time.Second).want(whole.String()[whole.Len()-1000:]).ended(common.StatusSucceeded,
					int64(whole.Len()), true)
				if size == common.MaxChunk && r.asked() > 5 {
					r.t.Errorf("%d reads for the end of what is stored", r.asked())
				}
			})
		})
	}
}

// All followers of a run cost the store as much as one.
func TestManyFollowersOneReader(t *testing.T) {
	cost := func(n int) (reads int) {
		bubble(t, Config{}, func(r *rig) {
			r.set(func() { r.slow = time.Millisecond })
			for range 8 {
				r.print("a", strings.Repeat("x", common.MaxChunk)) // more than the window
			}
			var all []*reader
			var reading sync.WaitGroup
			for range n {
				f := r.follow(Place{})
				all = append(all, f)
				reading.Go(func() { f.read(time.Hour) })
			}
			time.Sleep(time.Second)
			for i := range 100 {
				r.print("a", fmt.Sprintf("line %d\n", i))
				time.Sleep(300 * time.Millisecond)
			}
			r.be("a", common.StatusSucceeded, 8*common.MaxChunk+790)
			reading.Wait()
			for _, f := range all {
				if len(f.text) != 8*common.MaxChunk+790 {
					r.t.Fatalf("a follower read %d bytes", len(f.text))
				}
				f.ended(common.StatusSucceeded, 8*common.MaxChunk+790, true)
			}
			reads = r.asked()
		})
		return reads
	}
	one, hundred := cost(1), cost(100)
	if hundred > one+one/4 {
		t.Errorf("%d reads for a hundred followers, %d for one", hundred, one)
	}
}

// A follower that does not read delays no other, and loses nothing.
func TestSlowFollower(t *testing.T) {
	bubble(t, Config{WindowBytes: 10_000}, func(r *rig) {
		slow, fast := r.follow(Place{}), r.follow(Place{})
		slow.read(time.Second)
		var want strings.Builder
		for i := range 300 {
			text := fmt.Sprintf("%05d%s\n", i, strings.Repeat(".", 1000))
			want.WriteString(text)
			r.print("a", text)
			fast.read(300 * time.Millisecond)
		}
		fast.want(want.String())
		v, _ := fast.feed.current()
		if v.bytes > 10_000 || len(v.window) > 10 {
			r.t.Errorf("%d bytes in %d chunks are in memory", v.bytes, len(v.window))
		}
		slow.read(time.Second).want(want.String())
		slow.Close()
		fast.Close()
	})
}

func TestFollow_MissingOutput_IsReported(t *testing.T) {
	bubble(t, Config{}, func(r *rig) {
		r.chunks["a"] = []common.Chunk{{Run: "a", Data: []byte("head")}, {Run: "a", Offset: 4, Missing: 996}}
		f := r.follow(Place{})
		f.read(time.Second).want("head<996>")
		g := r.follow(Place{Offset: 600})
		g.read(time.Second).want("<400>")
		// A chunk that is stored before the previous one is held back ...
		r.set(func() {
			r.chunks["a"] = append(r.chunks["a"], common.Chunk{Run: "a", Offset: 1004, Data: []byte("tail")})
		})
		f.read(5 * time.Second).want("head<996>")
		r.set(func() {
			r.chunks["a"] = slices.Insert(r.chunks["a"], 2, common.Chunk{Run: "a", Offset: 1000, Data: []byte("late")})
		})
		f.read(time.Second).want("head<996>latetail")
		// ... but not forever.
		r.set(func() {
			r.chunks["a"] = append(r.chunks["a"], common.Chunk{Run: "a", Offset: 2000, Data: []byte("end")})
		})
		r.be("a", common.StatusSucceeded, 2003)
		f.read(10 * time.Second).want("head<996>latetail")
		f.read(10*time.Second).want("head<996>latetail<992>end").ended(common.StatusSucceeded, 2003, true)
		g.read(10*time.Second).want("<400>latetail<992>end").ended(common.StatusSucceeded, 2003, true)
	})
}

// The outcome may be stored before the end of the output.
func TestTailComesLate(t *testing.T) {
	for name, story := range map[string]func(f *reader){
		"and comes": func(f *reader) {
			f.read(5 * time.Second).want("one\n")
			f.print("a", "two\n")
			f.read(5*time.Second).want("one\ntwo\n").ended(common.StatusSucceeded, 8, true)
		},
		"and never comes": func(f *reader) {
			f.read(time.Minute).want("one\n").ended(common.StatusSucceeded, 4, false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Config{}, func(r *rig) {
				r.print("a", "one\n")
				r.be("a", common.StatusSucceeded, 8)
				story(r.follow(Place{}))
			})
		})
	}
	bubble(t, Config{}, func(r *rig) {
		r.print("a", "one\n")
		r.be("a", common.StatusSucceeded, 8)
		time.Sleep(time.Hour) // nothing is in flight
		began := time.Now()
		r.follow(Place{}).read(time.Minute).want("one\n").ended(common.StatusSucceeded, 4, false)
		if waited := time.Since(began); waited > time.Second {
			r.t.Errorf("waited %v for the output of an old run", waited)
		}
	})
}

// Of a lost run all stored output is shown, including output stored slightly later.
func TestFollow_LostRun_Ends(t *testing.T) {
	bubble(t, Config{}, func(r *rig) {
		r.print("a", "one\n")
		f := r.follow(Place{})
		f.read(time.Minute).want("one\n")
		r.be("a", common.StatusLost, 0)
		f.read(2 * time.Second)
		r.print("a", "two\n") // from the spool of the worker, which is back
		f.read(time.Minute).want("one\ntwo\n").ended(common.StatusLost, 8, true)
	})
}

func TestStoreAway(t *testing.T) {
	bubble(t, Config{}, func(r *rig) {
		f := r.follow(Place{})
		r.print("a", "one\n")
		f.read(time.Second).want("one\n")
		for _, trouble := range []func(){
			func() { r.away = common.Errorf(common.CodeUnavailable, "the store is away") },
			func() { r.hang = true },
		} {
			f.away = nil
			r.set(func() { trouble(); r.reads = 0 })
			f.read(time.Minute).want(f.text)
			if !slices.Equal(f.away, []bool{true}) {
				r.t.Errorf("told %v", f.away)
			}
			if reads := r.asked(); reads > 60 {
				r.t.Errorf("asked %d times in a minute", reads)
			}
			r.set(func() { r.away, r.hang = nil, false })
			r.print("a", "more\n")
			before := f.text
			f.read(20 * time.Second).want(before + "more\n")
			if !slices.Equal(f.away, []bool{true, false}) {
				r.t.Errorf("told %v", f.away)
			}
		}
		// Another follower waits meanwhile, at any position.
		f.Close()
		r.set(func() { r.hang = true })
		end := r.follow(Place{Tail: 5})
		end.read(20 * time.Second).want("")
		r.set(func() { r.hang = false })
		end.read(20 * time.Second).want("more\n")
		end.Close()
	})
}

// A store that takes longer for an answer than the first limit is slow, and not unavailable: its output
// arrives late.
func TestSlowStore_OutputComesAndNothingSaysAway(t *testing.T) {
	bubble(t, Config{}, func(r *rig) {
		r.set(func() { r.slow = 8 * time.Second })
		f := r.follow(Place{})
		r.print("a", "one\n")
		f.read(time.Minute).want("one\n")
		r.print("a", "two\n")
		f.read(30 * time.Second).want("one\ntwo\n")
		if len(f.away) != 0 {
			r.t.Errorf("told %v of a store that is slow", f.away)
		}
		f.Close()
	})
}

// Output continues while the state of the run cannot be read.
func TestEtcdAway(t *testing.T) {
	bubble(t, Config{}, func(r *rig) {
		f := r.follow(Place{})
		f.read(time.Second)
		r.set(func() { r.blind, r.looks = common.Errorf(common.CodeUnavailable, "etcd is away"), 0 })
		for i := range 60 {
			r.print("a", fmt.Sprintf("%d\n", i))
			f.read(time.Second)
			if !strings.HasSuffix(f.text, fmt.Sprintf("%d\n", i)) {
				r.t.Fatalf("after %d: %q", i, f.text)
			}
		}
		if !slices.Equal(f.away, []bool{true}) || r.looked() > 20 {
			r.t.Errorf("told %v, looked %d times in a minute", f.away, r.looked())
		}
		r.set(func() { r.blind = nil })
		r.be("a", common.StatusSucceeded, int64(len(f.text)))
		f.read(10*time.Second).ended(common.StatusSucceeded, int64(len(f.text)), true)
		if !slices.Equal(f.away, []bool{true, false}) {
			r.t.Errorf("told %v", f.away)
		}
	})
}

// A read that fails behind the window is tried again.
func TestStoreAwayForOneBehind(t *testing.T) {
	bubble(t, Config{WindowBytes: 100}, func(r *rig) {
		r.print("a", strings.Repeat("x", 200_000))
		r.print("a", "end")
		f := r.follow(Place{Tail: 1})
		f.read(time.Second).want("d")
		r.set(func() { r.away = errors.New("away") })
		g, err := r.hub.Follow(t.Context(), "a", Place{}, "me")
		if err == nil {
			g.Close()
			r.t.Fatal("a run is followed that could not be looked at")
		}
		r.set(func() { r.away, r.hang = nil, true })
		late := r.follow(Place{})
		late.read(20 * time.Second).want("")
		r.set(func() { r.hang = false })
		late.read(10 * time.Second)
		if len(late.text) != 200_003 {
			r.t.Errorf("read %d bytes", len(late.text))
		}
		late.Close()
		f.Close()
	})
}

func TestRunThatVanishes(t *testing.T) {
	bubble(t, Config{}, func(r *rig) {
		f := r.follow(Place{})
		f.read(time.Second)
		run := r.runs["a"]
		r.set(func() { delete(r.runs, "a") })
		if f.read(5 * time.Second); f.err != nil {
			r.t.Fatal(f.err)
		}
		r.set(func() { r.runs["a"] = run }) // it was moving between two keys
		if f.read(time.Minute); f.err != nil {
			r.t.Fatal(f.err)
		}
		r.set(func() { delete(r.runs, "a") })
		if f.read(time.Minute); common.CodeOf(f.err) != common.CodeNotFound {
			r.t.Fatalf("it ended with %v", f.err)
		}
		f.Close()
		if _, err := r.hub.Follow(r.t.Context(), "b", Place{}, "me"); common.CodeOf(err) != common.CodeNotFound {
			r.t.Error(err)
		}
	})
}

func TestHub_Stop_EndsFollowers(t *testing.T) {
	bubble(t, Config{}, func(r *rig) {
		f := r.follow(Place{})
		f.read(time.Second)
		time.AfterFunc(time.Minute, r.hub.Stop)
		began := time.Now()
		if f.read(time.Hour); f.err != ErrStopped || time.Since(began) != time.Minute {
			r.t.Errorf("ended with %v after %v", f.err, time.Since(began))
		}
		f.Close()
		r.hub.Stop()
		if _, err := r.hub.Follow(r.t.Context(), "a", Place{}, "me"); common.CodeOf(err) != common.CodeUnavailable {
			r.t.Error(err)
		}
	})
}

func TestTooManyFollowers(t *testing.T) {
	bubble(t, Config{Followers: 3}, func(r *rig) {
		var all []*reader
		for range 3 {
			all = append(all, r.follow(Place{}))
		}
		if _, err := r.hub.Follow(r.t.Context(), "a", Place{}, "me"); common.CodeOf(err) != common.CodeTooMany {
			r.t.Error(err)
		}
		all[0].Close()
		all[0] = r.follow(Place{})
		for _, f := range all {
			f.Close()
		}
	})
}

// One client leaves room for others, and followers leave room for clients that wait.
func TestOneClient_TakesAShareOfThePlaces(t *testing.T) {
	bubble(t, Config{Followers: 8, Waiters: 8}, func(r *rig) {
		follow := func(client string) *Follower {
			f, err := r.hub.Follow(r.t.Context(), "a", Place{}, client)
			if err != nil {
				if e, ok := errors.AsType[*common.Error](err); !ok || e.Code != common.CodeTooMany ||
					e.RetryAfter <= 0 {
					r.t.Errorf("%s: %v", client, err)
				}
				return nil
			}
			return f
		}
		var taken []interface{ Close() }
		for range 2 {
			taken = append(taken, follow("viewer"))
		}
		if follow("viewer") != nil {
			r.t.Error("one client got more than a quarter")
		}
		for i := range 6 {
			taken = append(taken, follow(fmt.Sprint("other ", i)))
		}
		if follow("late") != nil {
			r.t.Error("there are more followers than places")
		}
		for range 2 {
			w, err := r.hub.Reserve("viewer")
			if err != nil {
				r.t.Fatal(err)
			}
			taken = append(taken, w)
		}
		if _, err := r.hub.Reserve("viewer"); common.CodeOf(err) != common.CodeTooMany {
			r.t.Error(err)
		}
		w, err := r.hub.Reserve("admin")
		if err != nil {
			r.t.Fatal(err)
		}
		r.be("a", common.StatusSucceeded, 0)
		if run, err := w.End(r.t.Context(), "a"); err != nil || run.Status != common.StatusSucceeded {
			r.t.Errorf("%+v, %v", run, err)
		}
		w.Close()
		for _, c := range taken {
			c.Close()
		}
		follow("viewer").Close()
	})
}

// A follower that has left ends its request, and others repeat it.
func TestFollow_ClientGoneWhileAsking_Ends(t *testing.T) {
	bubble(t, Config{WindowBytes: 100}, func(r *rig) {
		for range 10 {
			r.print("a", strings.Repeat("x", common.MaxChunk))
		}
		lasting := r.follow(Place{Tail: 1})
		lasting.read(time.Second)
		r.set(func() { r.hang = true })
		gone, stays := r.follow(Place{}), r.follow(Place{})
		var done sync.WaitGroup
		done.Go(func() { gone.read(time.Second); gone.Close() })
		virtualtime.Wait()
		done.Go(func() { stays.read(30 * time.Second) })
		time.Sleep(500 * time.Millisecond)
		r.set(func() { r.hang = false })
		done.Wait()
		if len(stays.text) != 10*common.MaxChunk {
			r.t.Errorf("read %d bytes", len(stays.text))
		}
		stays.Close()
		lasting.Close()
	})
}

// Whatever happens, and however often a follower is disconnected and continues elsewhere, it receives every
// byte once.
func TestResumeAnywhere(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			bubble(t, Config{WindowBytes: 3000, PieceBytes: 2000}, func(r *rig) {
				random := rand.New(rand.NewPCG(seed, 3))
				other := New(r.world, Config{WindowBytes: 500})
				var want strings.Builder
				var printing sync.WaitGroup
				printing.Go(func() {
					for i := range 400 {
						text := fmt.Sprintf("%d%s\n", i, strings.Repeat(".", random.IntN(300)))
						want.WriteString(text)
						r.print("a", text)
						time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
					}
					r.be("a", common.StatusSucceeded, int64(want.Len()))
				})
				var got strings.Builder
				weather := rand.New(rand.NewPCG(seed, 4))
				for at, end := int64(0), (*End)(nil); end == nil; {
					hub := []*Hub{r.hub, other}[weather.IntN(2)]
					f, err := hub.Follow(r.t.Context(), "a", Place{Offset: at}, fmt.Sprint(at))
					if err != nil {
						continue
					}
					me := &reader{rig: r, Follower: f, at: at}
					ctx, cancel := context.WithTimeout(r.t.Context(),
						time.Duration(weather.IntN(3000))*time.Millisecond)
					for range weather.IntN(20) {
						part, err := me.Next(ctx)
						if err != nil {
							break
						}
						me.take(part)
						time.Sleep(time.Duration(weather.IntN(200)) * time.Millisecond)
					}
					cancel()
					got.WriteString(me.text)
					at, end = me.at, me.end
					me.Close()
					broken := weather.IntN(5) == 0
					r.set(func() {
						if r.away = nil; broken {
							r.away = common.Errorf(common.CodeUnavailable, "away")
						}
					})
					if broken {
						time.Sleep(time.Second)
						r.set(func() { r.away = nil })
					}
				}
				printing.Wait()
				if got.String() != want.String() {
					r.t.Fatalf("read %d bytes of %d", got.Len(), want.Len())
				}
			})
		})
	}
}
