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

// zoneData is the one package that internal/common imports.
const zoneData = "internal/common/zoneinfo"

// table is the floor plan: every package of the module, by its path in it. A path that ends with /... matches
// all packages below it, and * matches one folder.
var table = map[string]kind{
	"internal/common":             words,
	"internal/common/schedule":    words, // cron expressions
	"internal/common/redirection": words, // of a shell command's output
	"internal/common/yamltext":    words, // JSON as YAML
	zoneData:                      words, // time zones; imports no package of the module

	"internal/executor/proctree":  words, // what /proc reports about processes
	"internal/platform/bootclock": words,
	"internal/platform/journal":   words, // priorities of log lines
	"internal/platform/netguard":  words, // which addresses may be called
	"internal/platform/quota":     words,
	"internal/platform/timerfd":   words,
	"internal/platform/wallclock": words,
	"internal/runlog/rollup":      words, // the counters of runs

	"internal/access":                   pure,
	"internal/audit":                    pure,
	"internal/cluster/clock":            pure,
	"internal/events":                   pure,
	"internal/executor/httprun/request": pure,
	"internal/executor/inside":          pure,
	"internal/executor/redact":          pure,
	"internal/executor/runas":           pure,
	"internal/executor/spawn":           pure,
	"internal/executor/typeschema":      pure,
	"internal/executor/usage":           pure,
	"internal/flow":                     pure,
	"internal/flow/drawing":             pure,
	"internal/flow/nodes":               pure,
	"internal/flow/trial":               pure,
	"internal/health":                   pure,
	"internal/hooks":                    pure,
	"internal/jobmgr/crontab":           pure,
	"internal/jobmgr/diff":              pure,
	"internal/jobmgr/forecast":          pure,
	"internal/notify":                   pure,
	"internal/notify/service":           pure,
	"internal/maintenance":              pure,
	"internal/platform/certs":           pure,
	"internal/platform/config":          pure,
	"internal/platform/lifecycle":       pure,
	"internal/platform/memory":          pure,
	"internal/runlog":                   pure,
	"internal/runlog/entry":             pure,
	"internal/runlog/search":            pure,
	"internal/runlog/tail":              pure,
	"internal/scheduler":                pure,
	"internal/scheduler/placement":      pure,
	"internal/secrets/crypt":            pure,
	"internal/worker/funcrun":           pure,

	"internal/*/etcd":                   adapter,
	"internal/access/oidc":              adapter,
	"internal/apiclient":                adapter,
	"internal/cluster/continuity":       adapter,
	"internal/cluster/election":         adapter,
	"internal/cluster/members":          adapter,
	"internal/etcdkit":                  adapter,
	"internal/etcdkit/namedlock":        adapter,
	"internal/etcdkit/request":          adapter,
	"internal/executor":                 adapter,
	"internal/executor/guardian":        adapter,
	"internal/executor/httprun":         adapter,
	"internal/executor/typeschema/etcd": adapter,
	"internal/httpapi":                  adapter,
	"internal/httpapi/*":                adapter,
	"internal/joblock":                  adapter,
	"internal/jobmgr":                   adapter,
	"internal/jobmgr/catalog":           adapter,
	"internal/jobmgr/defaults":          pure,
	"internal/jobmgr/defaults/etcd":     adapter,
	"internal/jobmgr/live":              adapter,
	"internal/jobmgr/locks":             adapter,
	"internal/jobmgr/pools":             adapter,
	"internal/jobmgr/plan":              adapter,
	"internal/notify/smtp":              adapter,
	"internal/notify/webhook":           adapter,
	"internal/platform/embedded":        adapter,
	"internal/platform/metrics":         adapter,
	"internal/platform/traces":          adapter,
	"internal/runlog/mongolog":          adapter,
	"internal/runlog/spool":             adapter,
	"internal/runlog/sqlitelog":         adapter,
	"lock":                              adapter,

	"internal/chains":           conductor,
	"internal/dispatch":         conductor,
	"internal/flow/archive":     conductor,
	"internal/flow/keep":        conductor,
	"internal/flow/waits":       conductor,
	"internal/housekeeping":     conductor,
	"internal/notify/history":   conductor,
	"internal/runlog/jobgauges": conductor,
	"internal/runlog/lastfires": conductor,
	"internal/watchdog":         conductor,

	".":                       wiring, // the library, and the documentation
	"bench/...":               wiring,
	"carillontest":            wiring,
	"cmd/...":                 wiring,
	"deploy":                  wiring,
	"deploy/...":              wiring,
	"examples/...":            wiring,
	"internal/master":         wiring,
	"internal/master/datadir": wiring,
	"internal/worker":         wiring,
	"local":                   wiring,
	"web":                     wiring,
	"test/...":                wiring,

	"internal/access/oidc/oidctest":     support,
	"internal/archtest":                 support,
	"internal/events/eventstest":        support,
	"internal/flow/trial/trialtest":     support,
	"internal/health/looptest":          support,
	"internal/httpapi/apitest":          support,
	"internal/etcdkit/etcdtest":         support,
	"internal/platform/certs/certstest": support,
	"internal/platform/virtualtime":     support,
	"internal/runlog/conformance":       support,
	"internal/runlog/mongotest":         support,
}

// etcd lists the packages that may use etcd.
var etcd = []string{
	"internal/*/etcd", "internal/cluster/continuity", "internal/cluster/election", "internal/cluster/members",
	"internal/etcdkit", "internal/etcdkit/etcdtest", "internal/etcdkit/namedlock", "internal/etcdkit/request",
	"internal/executor/typeschema/etcd",
	"internal/joblock", "internal/jobmgr", "internal/jobmgr/catalog", "internal/jobmgr/live", "internal/jobmgr/locks",
	"internal/jobmgr/defaults/etcd", "internal/jobmgr/pools",
	"internal/platform/embedded", "lock",
	".", "bench/...", "cmd/...", "internal/master", "internal/worker", "test/chaos",
}

// sibling lists the exceptions to "packages of one layer do not import each other": the packages that may import
// those of a pattern.
var sibling = map[string][]string{
	// the format of secrets
	"internal/access": {"internal/hooks"},
	// what runs have in common: their outcomes and their masked output
	"internal/executor/redact": {"internal/executor/inside", "internal/worker/funcrun"},
	"internal/executor/inside": {"internal/worker/funcrun"},
	// the chain is stored beside the runs, and so are the nodes of flow runs
	"internal/runlog": {"internal/audit", "internal/flow/nodes"},
	// the order in which workers claim a fire
	"internal/scheduler/placement": {"internal/maintenance", "internal/scheduler"},
	// the windows in which fires wait or are skipped
	"internal/maintenance": {"internal/scheduler"},
	// the jobs and the runs that etcd holds
	"internal/jobmgr/catalog": {
		"internal/health/etcd", "internal/jobmgr", "internal/jobmgr/live", "internal/jobmgr/plan",
		"internal/jobmgr/pools",
	},
	"internal/jobmgr/live": {"internal/jobmgr"},
	// the differences of definitions
	"internal/jobmgr/diff": {"internal/jobmgr/defaults"},
	// a master's view of the cluster
	"internal/cluster/*":  {"internal/health/etcd"},
	"internal/audit/etcd": {"internal/health/etcd"},
	// the base of all etcd packages
	"internal/etcdkit": {
		"internal/*/etcd", "internal/cluster/continuity", "internal/cluster/election", "internal/cluster/members",
		"internal/executor/typeschema/etcd", "internal/joblock",
		"internal/etcdkit/namedlock",
		"internal/jobmgr", "internal/jobmgr/catalog", "internal/jobmgr/live", "internal/jobmgr/locks",
		"internal/jobmgr/defaults/etcd", "internal/jobmgr/pools", "lock",
	},
	"internal/etcdkit/namedlock": {"internal/jobmgr/locks", "lock"},
	"internal/etcdkit/request":   {"internal/joblock", "internal/platform/embedded"},
	// the API: what its resources have in common, and the router over all of them
	"internal/httpapi/core":   {"internal/httpapi", "internal/httpapi/*"},
	"internal/httpapi/strict": {"internal/httpapi/*"},
	"internal/httpapi/view":   {"internal/httpapi", "internal/httpapi/*"},
	"internal/httpapi/*":      {"internal/httpapi"},
}

// rooms lists where a technology may appear outside of tests: an import path, or one below it, and the
// packages that may use it. The longest path counts.
var rooms = []struct {
	path string
	in   []string
}{
	{"go.etcd.io/etcd", etcd},
	{"go.etcd.io/etcd/server", []string{"internal/platform/embedded", "internal/etcdkit/etcdtest", "test/etcd"}},
	{"go.mongodb.org/mongo-driver", []string{"internal/runlog/mongolog", "bench/mongofast"}},
	{"database/sql", []string{"internal/runlog/sqlitelog"}},
	{"modernc.org/sqlite", []string{"internal/runlog/sqlitelog"}},
	{"github.com/gin-gonic/gin", []string{"internal/httpapi", "internal/httpapi/*"}},
	{"github.com/danielgtaylor/huma", []string{"internal/httpapi", "internal/httpapi/*"}},
	{"github.com/expr-lang/expr", []string{"internal/flow"}},
	{"github.com/santhosh-tekuri/jsonschema", []string{"internal/executor/typeschema"}},
	{"golang.org/x/text", []string{"internal/executor/typeschema"}},
	{"golang.org/x/text/width", []string{"cmd/cronctl"}},
	{"github.com/gorhill/cronexpr", []string{"internal/common/schedule"}},
	{"github.com/prometheus", []string{"internal/platform/metrics", "internal/platform/embedded"}},
	{"go.opentelemetry.io", []string{"internal/platform/traces", "test/system"}},
	{"github.com/spf13/cobra", []string{"cmd/..."}},
	{"github.com/spf13/pflag", []string{"internal/platform/config", "cmd/..."}},
	{"github.com/goccy/go-yaml", []string{"internal/platform/config", "internal/executor/runas", "cmd/..."}},
	{"github.com/coreos/go-oidc", []string{"internal/access/oidc"}},
	{"golang.org/x/oauth2", []string{"internal/access/oidc"}},
	{"github.com/coreos/go-systemd", []string{"internal/platform/lifecycle"}},
	{"github.com/oapi-codegen", []string{"internal/apiclient"}},
	{"golang.org/x/crypto", []string{"internal/access"}},
	{"github.com/wneessen/go-mail", []string{"internal/notify/smtp"}},
	{"crypto/aes", []string{"internal/secrets/crypt"}},
	{"os/exec", []string{"internal/executor", "internal/executor/spawn", "bench/...", "cmd/...", "test/..."}},
	{"log", nil}, // slog is used
	{"unsafe", []string{"internal/executor/spawn"}},
	{"net/http/pprof", nil}, // registers itself on the default mux
	{"expvar", nil},         // registers itself on the default mux
	{"math/rand", nil},      // math/rand/v2, or crypto/rand
}
