package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/test/harness"
)

// flowRerun re-runs the 10 steps that failed of a flow run of 10,000, and counts the keys that it writes beyond those
// of a flow run of 10 steps.
func flowRerun(ctx context.Context, b *bench) error {
	kept, failing := 9990, 10
	if b.quick {
		kept = 490
	}
	c, err := b.newCluster(ctx, 0)
	if err != nil {
		return err
	}
	defer c.kill()
	client, err := dial(c.etcdURL)
	if err != nil {
		return err
	}
	defer client.Close()
	mended := filepath.Join(b.dir, "mended")
	few, whole := &common.Job{Name: "few"}, &common.Job{Name: "whole"}
	for i := range failing {
		few.Steps = append(few.Steps, common.Step{Name: fmt.Sprintf("few%02d", i), Args: short()})
		whole.Steps = append(whole.Steps,
			common.Step{Name: fmt.Sprintf("fail%02d", i), Args: []string{"/bin/sh", "-c", "test -e " + mended}})
	}
	for i := range kept {
		whole.Steps = append(whole.Steps, common.Step{Name: fmt.Sprintf("keep%05d", i), Args: short()})
	}
	for _, job := range []*common.Job{few, whole} {
		if err := c.save(ctx, job); err != nil {
			return err
		}
	}
	began, seen := time.Now(), look(c.processes()...)
	id, err := c.trigger(ctx, whole.Name)
	if err != nil {
		return err
	}
	r, err := c.ended(ctx, id)
	if err != nil {
		return err
	}
	if r.Status != string(common.StatusFailed) || r.Nodes.Succeeded != kept {
		return fmt.Errorf("flow run %s: %s, %d nodes succeeded", r.ID, r.Status, r.Nodes.Succeeded)
	}
	if err := os.WriteFile(mended, nil, 0o600); err != nil {
		return err
	}
	alone, err := c.written(ctx, client, failing, func() (string, error) { return c.trigger(ctx, few.Name) })
	if err != nil {
		return err
	}
	again, err := c.written(ctx, client, failing+kept, func() (string, error) {
		var accepted struct{ Run string }
		_, err := c.Ask(ctx, http.MethodPost, "/api/v1/runs/"+id+"/rerun", struct{}{}, &accepted)
		return accepted.Run, err
	})
	if err != nil {
		return err
	}
	b.sheet.took("flow-rerun", seen, time.Since(began), c.processes()...)
	b.sheet.add("flow-rerun", fmt.Sprintf("re-run of %d nodes, %d kept: keys written beyond those of a flow run of %d",
		failing, kept, failing), fmt.Sprintf("%d (%d, %d)", again.keys-alone.keys, again.keys, alone.keys), "≤ 1",
		reached(again.keys-alone.keys <= 1))
	b.sheet.add("flow-rerun", "from the request to the first start", fmt.Sprintf("%s; flow run of %d steps: %s",
		ms(again.started), failing, ms(alone.started)), "≤ 1 s", reached(again.started <= time.Second))
	return nil
}

// writes are what a flow run has written.
type writes struct {
	keys    int
	started time.Duration // from the request to the first start of a node
}

// written counts the keys that are put from a request to the end of the flow run that it starts, without those that
// processes put by themselves.
func (c *cluster) written(ctx context.Context, client *clientv3.Client, nodes int, start func() (string, error)) (
	w writes, err error) {
	if err := harness.Sleep(ctx, 3*time.Second); err != nil { // what was before is done
		return w, err
	}
	now, err := client.Get(ctx, common.Root)
	if err != nil {
		return w, err
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	changes := client.Watch(watching, common.Root, clientv3.WithPrefix(), clientv3.WithFragment(),
		clientv3.WithRev(now.Header.Revision+1))
	began := time.Now()
	id, err := start()
	if err != nil {
		return w, err
	}
	keys, over := map[string]bool{}, make(chan struct{})
	go func() {
		defer close(over)
		for resp := range changes {
			for _, ev := range resp.Events {
				key := string(ev.Kv.Key)
				if ev.Type != clientv3.EventTypePut || ownKey(key) {
					continue
				}
				keys[key] = true
				mark, err := common.Decode[common.Node](ev.Kv.Value)
				if w.started == 0 && strings.HasPrefix(key, common.FlowNodesOf(id)) && err == nil &&
					mark.State == common.NodeStarted {
					w.started = time.Since(began)
				}
			}
		}
	}()
	r, err := c.ended(ctx, id)
	if err == nil && (r.Status != string(common.StatusSucceeded) || r.Nodes.Succeeded != nodes) {
		err = fmt.Errorf("flow run %s: %s, %d of %d nodes succeeded", r.ID, r.Status, r.Nodes.Succeeded, nodes)
	}
	if err == nil {
		err = harness.Sleep(ctx, time.Second) // the last changes arrive
	}
	stop()
	<-over
	w.keys = len(keys)
	return w, err
}

// ownKey reports whether a process puts a key whether or not a flow run is live.
func ownKey(key string) bool {
	for _, prefix := range []string{common.WorkersPrefix, common.MastersPrefix, common.LeaderPrefix} {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}
