package archtest

// kind is the layer of a package. Imports go down only.
type kind int

const (
	words     kind = iota // 0: vocabulary; imports no package of the module
	pure                  // 1: pure, or talks only to ports that it declares itself
	adapter               // 2: one technology
	conductor             // 3: coordinates others through its own ports
	wiring                // 4: may import everything; no package imports it
	support               // support for tests; only tests import it
)

// table is the floor plan: every package of the module, by its path in it. A path that ends with /... matches
// all packages below it.
var table = map[string]kind{
	"internal/common":          words,
	"internal/common/schedule": words, // cron expressions

	"internal/auth":          pure,
	"internal/certs":         pure,
	"internal/bootclock":     words,
	"internal/proctree":      words,
	"internal/places":        words,
	"internal/journal":       words, // priorities of log lines
	"internal/clockguard":    pure,
	"internal/config":        pure,
	"internal/crontab":       pure,
	"internal/flow":          pure,
	"internal/forecast":      pure,
	"internal/jobdiff":       pure,
	"internal/health":        pure,
	"internal/lifecycle":     pure,
	"internal/placement":     pure,
	"internal/runlog":        pure,
	"internal/runlog/audit":  pure,
	"internal/runlog/entry":  pure,
	"internal/runlog/rollup": words, // the counters of runs
	"internal/runlog/search": pure,
	"internal/runlog/tail":   pure,
	"internal/alerts":        pure,
	"internal/feed":          pure,
	"internal/mask":          pure,
	"internal/runas":         pure,
	"internal/seal":          pure,
	"internal/scheduler":     pure,

	"internal/alertstore":       adapter,
	"internal/auditstore":       adapter,
	"internal/feedwatch":        adapter,
	"internal/mailer":           adapter,
	"internal/webhook":          adapter,
	"internal/apiclient":        adapter,
	"internal/authstore":        adapter,
	"internal/embedded":         adapter,
	"internal/etcdkit":          adapter,
	"internal/executor":         adapter,
	"internal/guardian":         adapter,
	"internal/httpapi":          adapter,
	"internal/joblock":          adapter,
	"internal/jobmgr":           adapter,
	"internal/leader":           adapter,
	"internal/metrics":          adapter,
	"internal/oidc":             adapter,
	"internal/registry":         adapter,
	"internal/runlog/mongolog":  adapter,
	"internal/runlog/spool":     adapter,
	"internal/runlog/sqlitelog": adapter,
	"internal/secretstore":      adapter,

	"internal/auditor":      conductor,
	"internal/dispatch":     conductor,
	"internal/housekeeping": conductor,
	"internal/jobgauges":    conductor,

	"bench/...":  wiring,
	"cmd/...":    wiring,
	"deploy":     wiring,
	"deploy/...": wiring,
	"web":        wiring,
	"test/...":   wiring,

	"internal/archtest":           support,
	"internal/etcdkit/etcdtest":   support,
	"internal/runlog/conformance": support,
	"internal/certs/certstest":    support,
	"internal/oidc/oidctest":      support,
	"internal/virtualtime":        support,
	"internal/runlog/mongotest":   support,
}

// etcd lists the packages that may use etcd.
var etcd = []string{"internal/alertstore", "internal/auditstore", "internal/authstore", "internal/etcdkit", "internal/embedded", "internal/feedwatch", "internal/joblock", "internal/jobmgr",
	"internal/leader", "internal/registry", "internal/secretstore", "internal/etcdkit/etcdtest", "bench/...", "cmd/...", "test/chaos"}

// sibling lists the exceptions to "adapters never import adapters".
var sibling = map[string][]string{
	// the base of all etcd packages
	"internal/etcdkit": {"internal/alertstore", "internal/auditstore", "internal/authstore", "internal/feedwatch", "internal/joblock", "internal/jobmgr", "internal/leader", "internal/registry", "internal/secretstore"},
}

// rooms lists where a technology may appear outside of tests: an import path, or one below it, and the
// packages that may use it. The longest path counts.
var rooms = []struct {
	path string
	in   []string
}{
	{"go.etcd.io/etcd", etcd},
	{"go.etcd.io/etcd/server", []string{"internal/embedded", "internal/etcdkit/etcdtest", "test/etcd"}},
	{"go.mongodb.org/mongo-driver", []string{"internal/runlog/mongolog", "bench/mongofast"}},
	{"database/sql", []string{"internal/runlog/sqlitelog"}},
	{"modernc.org/sqlite", []string{"internal/runlog/sqlitelog"}},
	{"github.com/gin-gonic/gin", []string{"internal/httpapi"}},
	{"github.com/danielgtaylor/huma", []string{"internal/httpapi"}},
	{"github.com/gorhill/cronexpr", []string{"internal/common/schedule"}},
	{"github.com/prometheus", []string{"internal/metrics"}},
	{"github.com/spf13/cobra", []string{"cmd/..."}},
	{"github.com/spf13/pflag", []string{"internal/config", "cmd/..."}},
	{"github.com/goccy/go-yaml", []string{"internal/config", "internal/runas", "cmd/..."}},
	{"github.com/coreos/go-oidc", []string{"internal/oidc"}},
	{"golang.org/x/oauth2", []string{"internal/oidc"}},
	{"github.com/coreos/go-systemd", []string{"cmd/..."}},
	{"github.com/oapi-codegen", []string{"internal/apiclient"}},
	{"golang.org/x/crypto", []string{"internal/auth"}},
	{"github.com/wneessen/go-mail", []string{"internal/mailer"}},
	{"crypto/aes", []string{"internal/seal"}},
	{"os/exec", []string{"internal/executor", "bench/...", "cmd/...", "test/..."}},
	{"log", nil},            // slog is used
	{"unsafe", nil},         // not needed
	{"net/http/pprof", nil}, // registers itself on the default mux
	{"expvar", nil},         // likewise
	{"math/rand", nil},      // math/rand/v2, or crypto/rand
}
