package etcdkit_test

import (
	"net"
	"testing"
	"time"

	"carillon/internal/etcdkit"
)

// An etcd that comes back after a long time must be found soon: the client goes on
// trying at a steady pace. By grpc's own pace these tries would take most of a minute.
func TestDialKeepsTrying(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	tried := make(chan struct{}, 100)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
			tried <- struct{}{}
		}
	}()
	client, err := etcdkit.Dial(etcdkit.Config{Endpoints: []string{"http://" + listener.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	go func() { _, _ = client.Get(t.Context(), "x") }()
	deadline := time.After(30 * time.Second)
	for n := range 9 {
		select {
		case <-tried:
		case <-deadline:
			t.Fatalf("%d tries only", n)
		}
	}
}
