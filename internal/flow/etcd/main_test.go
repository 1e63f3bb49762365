package etcd

import (
	"os"
	"testing"

	"carillon/internal/etcdkit/etcdtest"
)

// shared is the etcd of the tests that neither stop nor compact it.
var shared etcdtest.Shared

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }
