# Carillon. "make run" needs Go and make; "make test" also gcc, Node and Chromium.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
GO      ?= go
# Programs, checks and tests without the race detector are compiled alike, so that the build cache serves them all.
PURE    := CGO_ENABLED=0 GOFLAGS='-trimpath -buildvcs=false' $(GO)
BUILD   := $(PURE) build -ldflags '-s -w -X main.version=$(VERSION)'
DATA    ?= ./data
BINARIES := bin/carillon-master bin/carillon-worker bin/carillon-standalone bin/cronctl bin/carillon-type-container

# Test dependencies besides Go: a server that speaks MongoDB's protocol, an etcd and its client, a program with functions,
# programs with a clock that can be set wrong and of an earlier version, and a browser.
DOUBLE   := bin/mongodouble
ETCD     := bin/etcd
ETCDCTL  := bin/etcdctl
FUNCS    := bin/functions
CLOCK    := bin/clockoffset/carillon-standalone
OLDER    := bin/older/carillon-master bin/older/carillon-worker
ETCD35   := bin/etcd35
FAST     := bin/mongofast
CHROMIUM ?= $(shell command -v chromium-headless-shell chromium chromium-browser google-chrome 2>/dev/null | head -1)

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## (.*)/\1\t\2/' | expand -t 14

.PHONY: run
run: bin/carillon-standalone bin/cronctl ## Start everything in one process, with its data in ./data
	exec bin/carillon-standalone --data-dir $(DATA)

.PHONY: build
build: $(BINARIES) ## Build all programs into bin/

# Go decides what is out of date.
.PHONY: $(BINARIES) $(DOUBLE) $(ETCD) $(ETCDCTL) $(ETCD35) $(FUNCS) $(CLOCK) $(OLDER) $(FAST)
bin/carillon-master bin/carillon-worker bin/carillon-standalone: bin/carillon-%:
	$(BUILD) -o $@ ./cmd/$*
bin/cronctl:
	$(BUILD) -o $@ ./cmd/cronctl
bin/carillon-type-container:
	$(BUILD) -o $@ ./cmd/type-container
$(DOUBLE):
	cd test/mongodouble && $(GO) build -trimpath -buildvcs=false -o $(CURDIR)/$(DOUBLE) .
$(ETCD):
	$(BUILD) -o $@ ./test/etcd
$(ETCDCTL):
	cd test/etcdctl && $(PURE) build -o $(CURDIR)/$(ETCDCTL) .
$(FUNCS):
	$(BUILD) -o $@ ./test/functions
$(CLOCK):
	$(BUILD) -tags clockoffset -o $@ ./cmd/standalone
$(OLDER) &:
	CGO_ENABLED=0 GOFLAGS='-trimpath -buildvcs=false' tools/older.sh bin/older
$(FAST):
	$(BUILD) -o $@ ./bench/mongofast
$(ETCD35):
	cd test/etcd35 && CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -o $(CURDIR)/$(ETCD35) .

# What a machine lacks is installed where that is possible: on Debian, as root.
.PHONY: test
test: test-go test-web e2e-main ## Run the tests that each change must pass, within six minutes: Go, processes, console, browser

# Each part can be run alone; what fails does not hold up the others.
.PHONY: test-full
test-full: ## Run all further tests, about half an hour: -race everywhere, clusters, the model, all stories, faults
	$(MAKE) -k test-race test-system test-model e2e-rest chaos-quick

# The packages in which goroutines meet: their tests run with the race detector at once, and are not repeated.
MEET    := $(addprefix ./internal/,dispatch etcdkit events executor runlog runlog/spool runlog/tail scheduler)
# The tests of archtest are a part of make check.
OTHERS  := $$($(GO) list ./... | grep -vxF -e "$$($(GO) list $(MEET) ./internal/archtest ./test/model ./test/system)")
STORIES := ^(TestStandaloneKilled_LosesNoFire|TestGuardianKilledOneAttempt)$$

# The race detector instruments our code only: SQLite (C translated to Go) has no goroutines and is five times slower
# under it, and so is password hashing. The model runs in virtual time, on one processor under the race detector; its
# packages are tested under it on their own. Three packages at a time, since most tests wait for an etcd; the slowest
# one first. "make check" vets them.
RACE := -race -gcflags='modernc.org/...=-race=false' -gcflags='golang.org/x/crypto/...=-race=false'

# No test compiles a program: those that tests start are in bin, or in the folder that CARILLON_TEST_BIN names.
.PHONY: test-programs
test-programs: $(BINARIES) $(DOUBLE) $(ETCD) $(ETCDCTL) $(FUNCS) $(CLOCK) $(OLDER) $(FAST) ## Build the programs that tests start into bin/

.PHONY: test-go test-go-short test-go-stories test-go-meet
test-go: test-go-short test-go-stories test-go-meet
test-go-short: $(ETCDCTL) $(FAST)
	$(PURE) test -vet=off -short -p 3 -parallel 8 -timeout 10m $(OTHERS)
test-go-stories: bin/carillon-standalone
	$(PURE) test -timeout 5m ./test/system -run '$(STORIES)'
test-go-meet: need-compiler
	$(GO) test $(RACE) -vet=off -p 3 -parallel 4 -timeout 10m $(MEET)

# What the tests import is compiled before the first of them runs: beside a compiler, processes under test starve.
.PHONY: test-race test-system test-model
test-race: need-compiler $(DOUBLE) $(FAST) $(ETCDCTL) ## Run the tests of all packages with the race detector, also those that -short leaves out
	$(GO) build $(RACE) $$($(GO) list -f '{{if .GoFiles}}{{.ImportPath}}{{end}}' ./...)
	$(GO) test $(RACE) -vet=off -p 3 -parallel 4 -timeout 15m $(OTHERS)

test-system: need-compiler need-network test-programs ## Run all tests of processes and clusters
	$(GO) test $(RACE) -vet=off -run '^$$' ./test/system
	$(GO) test $(RACE) -vet=off -parallel 4 -timeout 15m -skip '$(STORIES)' ./test/system

test-model: ## Test the protocol on simulated workers, with its mutations
	$(PURE) test -timeout 15m ./test/model

# The oldest supported etcd server: clusters, elections, backups, passwords, and rolling upgrades.
ETCD35TESTS ?= TestCluster|TestWorkerDies_OthersTakeOver|TestEtcdTokensExpire_NothingIsLost|TestNotifications$$|TestElection_MasterKilled_AnotherIsElected|TestDrain|TestRollingRestart|TestWorker_SecondIncarnation_DoesNotStart|TestDaemons_StartWithoutTheirStores

.PHONY: test-etcd35
test-etcd35: test-programs $(ETCD35) ## Run system tests against etcd 3.5.33, about 5 minutes
	CARILLON_TEST_ETCD='$(CURDIR)/$(ETCD35)' $(GO) test -count 1 -timeout 15m ./test/system -run '$(ETCD35TESTS)'

.PHONY: test-web
test-web: need-node web/node_modules
	cd web && npm test

# The browser's stories: the main ones against the standalone; the rest, which also start a cluster. SHOTS=/a/folder
# takes their pictures. A picture of a whole page resizes the window, and a busy Chromium has been seen to make it one
# pixel wide meanwhile, so that the console shows its narrow page; therefore no test depends on pictures.
SHOTS   ?=
BROWSER = CHROMIUM='$(CHROMIUM)' CARILLON_BIN='$(CURDIR)/bin/carillon-standalone' CARILLON_CLUSTER_BIN='$(CURDIR)/bin' CARILLON_SHOTS='$(SHOTS)'

.PHONY: e2e e2e-main e2e-rest
e2e: e2e-main e2e-rest ## Run all browser tests of the console; SHOTS=/a/folder takes pictures
e2e-main: need-node need-chromium web/node_modules bin/carillon-standalone
	cd web && $(BROWSER) npm run e2e:main
e2e-rest: need-node need-chromium web/node_modules $(BINARIES) $(DOUBLE) $(ETCD) $(FUNCS)
	cd web && $(BROWSER) npm run e2e:rest

# Not a part of e2e: its Firefox has 60 MB to install.
FIREFOX ?= $(or $(wildcard /usr/bin/firefox-esr),$(shell command -v firefox 2>/dev/null | head -1))

.PHONY: e2e-firefox
e2e-firefox: need-node web/node_modules bin/carillon-standalone ## Visit the main screens in Firefox (FIREFOX=/path/to/it)
	@test -x "$(FIREFOX)" || { echo 'make: Firefox is missing: install firefox-esr, or set FIREFOX=/path/to/it' >&2; exit 1; }
	cd web && FIREFOX='$(FIREFOX)' CARILLON_BIN='$(CURDIR)/bin/carillon-standalone' CARILLON_SHOTS='$(CURDIR)/web/shots' node --experimental-websocket --test e2e/firefoxStory.mjs

.PHONY: screens
screens: need-node need-chromium web/node_modules bin/carillon-standalone ## Check each screen in all themes, languages and widths, about 8 minutes; pictures in web/shots
	cd web && CHROMIUM='$(CHROMIUM)' CARILLON_BIN='$(CURDIR)/bin/carillon-standalone' CARILLON_SHOTS='$(CURDIR)/web/shots' CARILLON_SCREENS=all node --test --test-concurrency=1 e2e/screens.test.mjs

.PHONY: pictures
pictures: need-node need-chromium web/node_modules bin/carillon-standalone ## Take the pictures of docs/console.md, about 6 minutes
	cd web && CHROMIUM='$(CHROMIUM)' CARILLON_BIN='$(CURDIR)/bin/carillon-standalone' node e2e/pictures.mjs ../docs/console

.PHONY: tour
tour: need-node need-chromium web/node_modules bin/carillon-standalone ## Take the animated tour of the README, about 4 minutes
	cd web && CHROMIUM='$(CHROMIUM)' CARILLON_BIN='$(CURDIR)/bin/carillon-standalone' node e2e/tour.mjs ../docs/console/tour.png

# Go fuzzes one target at a time. Its findings are stored under testdata, and every later test run tries them.
FUZZTIME ?= 60s

.PHONY: fuzz
fuzz: ## Fuzz decoders and the router, FUZZTIME=60s each
	@grep -rnoE --include='*_test.go' '^func Fuzz[A-Za-z0-9]*' cmd internal | sed -E 's|/[^/]*_test.go:[0-9]+:func | |' | sort -u | while read -r dir name; do \
		echo "== $$dir $$name"; $(GO) test ./$$dir -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) </dev/null || exit 1; done

.PHONY: bench
bench: test-programs ## Run the benchmarks; compare two outputs with benchstat
	$(GO) test -run '^$$' -bench . -benchmem -count 6 ./internal/...
	$(GO) test -run '^$$' -bench . -benchtime 1x ./test/system

# Programs of the cluster bench: ours (with a worker whose clock can be set wrong by a variable), an etcd, the double,
# and two small C programs that share no code with the measured ones.
BENCHBIN := bin/bench
ROWS     ?= all

.PHONY: bench-cluster bench-cluster-quick bench-programs
bench-cluster: bench-programs ## Measure a cluster of real processes, about 12 minutes; ROWS=sustained,lone for some rows
	$(BENCHBIN)/cluster -bin $(BENCHBIN) -row '$(ROWS)'

# A few seconds for each row: for a trial run, not for figures.
bench-cluster-quick: bench-programs
	$(BENCHBIN)/cluster -bin $(BENCHBIN) -row '$(ROWS)' -quick

FLOWROWS ?= flow-chain,flow-layers,flow-join,flow-rerun,flow-kill,flow-burst,flow-wait,flow-backfill,flow-backfill-long,flow-spread,after-fan

.PHONY: bench-flows
bench-flows: bench-programs ## Measure flows beside plain fires, about 13 minutes; FLOWROWS=flow-chain for some rows
	$(GO) test -run '^$$' -bench 'Load$$|Validate$$|Events$$' -benchmem ./internal/flow
	$(BENCHBIN)/cluster -bin $(BENCHBIN) -row '$(FLOWROWS)'

DAEMONROWS ?= daemon-end,daemon-kill,daemon-fleet,daemon-join

.PHONY: bench-daemons
bench-daemons: bench-programs ## Measure daemon jobs, about 10 minutes; DAEMONROWS=daemon-join-all for 1,000 replicas and a worker that joins
	$(BENCHBIN)/cluster -bin $(BENCHBIN) -row '$(DAEMONROWS)'

.PHONY: bench-lock
bench-lock: ## Measure named locks on an etcd of its own, about a minute
	mkdir -p $(BENCHBIN)
	$(BUILD) -o $(BENCHBIN)/etcd ./test/etcd
	$(BUILD) -o $(BENCHBIN)/lock ./bench/lock
	$(BENCHBIN)/lock -bin $(BENCHBIN)

.PHONY: bench-outage
bench-outage: ## Measure a day without the log store at 100 fires a second, about 6 minutes
	$(MAKE) bench-cluster ROWS=outage

# A peer is NAME=ADAPTER; bench/peers has adapters, and bench/cluster/peers.go says what an adapter does.
PEERS ?=

.PHONY: bench-peers
bench-peers: bench-programs ## Measure bare fork and exec, Carillon and others with the same jobs; PEERS=dkron=bench/peers/dkron
	$(BENCHBIN)/cluster -bin $(BENCHBIN) -row peers -peers '$(PEERS)'

bench-programs: need-compiler
	mkdir -p $(BENCHBIN)
	for p in master standalone; do $(BUILD) -o $(BENCHBIN)/carillon-$$p ./cmd/$$p; done
	$(BUILD) -tags clockoffset -o $(BENCHBIN)/carillon-worker ./cmd/worker
	$(BUILD) -o $(BENCHBIN)/etcd ./test/etcd
	$(BUILD) -o $(BENCHBIN)/cluster ./bench/cluster
	$$($(GO) env CC) -static -O2 -Wall -Wextra -o $(BENCHBIN)/helper bench/helper/helper.c
	$$($(GO) env CC) -static -O2 -Wall -Wextra -pthread -o $(BENCHBIN)/bare bench/helper/bare.c
	$(BUILD) -o $(BENCHBIN)/mongofast ./bench/mongofast

MINUTES ?= 30
RATE    ?= 50
PAGE    ?= /

.PHONY: bench-console
bench-console: need-node need-chromium web/node_modules bin/carillon-standalone ## Measure the memory of a browser tab, 30 minutes; MINUTES, RATE (runs a second) and PAGE change that
	cd web && CHROMIUM='$(CHROMIUM)' CARILLON_BIN='$(CURDIR)/bin/carillon-standalone' MINUTES='$(MINUTES)' RATE='$(RATE)' PAGE='$(PAGE)' node bench/console.mjs

APIROWS ?= all

.PHONY: bench-api
bench-api: ## Measure the API of a standalone over HTTP, about 4 minutes; APIROWS=lists,put for some rows
	mkdir -p $(BENCHBIN)
	$(BUILD) -o $(BENCHBIN)/carillon-standalone ./cmd/standalone
	$(BUILD) -o $(BENCHBIN)/api ./bench/api
	$(BENCHBIN)/api -standalone $(BENCHBIN)/carillon-standalone -rows '$(APIROWS)'

.PHONY: bench-types bench-types-quick
bench-types: ## Measure requests and plug-ins beside a bare client and commands, and 10,000 hung requests, a few seconds
	mkdir -p $(BENCHBIN)
	$(BUILD) -o $(BENCHBIN)/types ./bench/types
	$(BENCHBIN)/types $(TYPESFLAGS)

.PHONY: bench-requests
bench-requests: bench-programs ## Measure jobs that send requests beside commands, from claim to finish, about half a minute
	$(BENCHBIN)/cluster -bin $(BENCHBIN) -row requests

.PHONY: bench-sdk
bench-sdk: bench-programs ## Measure functions of a program beside commands, and the idle program, about three minutes
	$(BUILD) -o $(BENCHBIN)/functions ./bench/functions
	$(BENCHBIN)/cluster -bin $(BENCHBIN) -row functions

# Fewer runs: for a trial run, not for figures.
bench-types-quick: TYPESFLAGS := -quick
bench-types-quick: bench-types

RUNS       ?= 1000000
HISTORY    ?= sqlite
HISTORYROW ?= all

.PHONY: bench-history
bench-history: ## Measure a log store with a million runs; HISTORY=mongodb://… for one in MongoDB
	mkdir -p $(BENCHBIN)
	$(BUILD) -o $(BENCHBIN)/history ./bench/history
	cd $(BENCHBIN) && ./history -store '$(HISTORY)' -runs $(RUNS) -rows '$(HISTORYROW)'

FLOWRUNS ?= 1000000

.PHONY: bench-flow-history
bench-flow-history: ## Measure a log store with a million flow runs of four nodes, about 10 minutes
	mkdir -p $(BENCHBIN)
	$(BUILD) -o $(BENCHBIN)/history ./bench/history
	cd $(BENCHBIN) && ./history -store '$(HISTORY)' -flows $(FLOWRUNS)

# Programs of the chaos harness: ours (with a worker whose clock can be set wrong by a variable), etcd and etcdutl, a
# store that speaks MongoDB's protocol, and the command of its jobs.
CHAOSBIN := bin/chaos
SEED     ?= 1
RESULTS  ?= $(CHAOSBIN)/results.json

.PHONY: chaos chaos-quick soak chaos-table chaos-programs
chaos: chaos-programs ## Inject each fault once, then 20 mixes of faults, about three hours
	$(CHAOSBIN)/chaos -bin $(CHAOSBIN) -all -mixes 20 -seed $(SEED) -results $(RESULTS)

chaos-quick: chaos-programs ## Inject some faults, within two minutes
	$(CHAOSBIN)/chaos -bin $(CHAOSBIN) -quick -seed $(SEED)

soak: chaos-programs ## Inject random faults for half an hour, under 200 jobs, with a random seed
	$(CHAOSBIN)/chaos -bin $(CHAOSBIN) -soak 30m $(if $(filter-out file,$(origin SEED)),-seed $(SEED)) -results $(RESULTS)

# The table of docs/reliability.md for the last results.
chaos-table:
	@$(CHAOSBIN)/chaos -table $(RESULTS)

chaos-programs: need-compiler need-network
	mkdir -p $(CHAOSBIN)
	$(BUILD) -o $(CHAOSBIN)/carillon-master ./cmd/master
	$(BUILD) -tags clockoffset -o $(CHAOSBIN)/carillon-worker ./cmd/worker
	$(BUILD) -o $(CHAOSBIN)/etcd ./test/etcd
	cd test/etcdctl && CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -o $(CURDIR)/$(CHAOSBIN)/etcdutl ./etcdutl
	$(BUILD) -o $(CHAOSBIN)/chaos ./test/chaos
	$$($(GO) env CC) -static -O2 -Wall -Wextra -o $(CHAOSBIN)/ledger test/chaos/ledger/ledger.c
	$(BUILD) -o $(CHAOSBIN)/mongofast ./bench/mongofast

.PHONY: model
model: ## Test the protocol on simulated workers with many seeds: make model SEEDS=1000
	$(GO) test -count 1 -timeout 30m ./test/model -run TestModel -v -seeds $(or $(SEEDS),250) | grep -E 'model:|^(ok|FAIL|---)|    --- FAIL|: G[0-9]:' ; exit $${PIPESTATUS[0]}

.PHONY: test-systemd
test-systemd: bin/carillon-master bin/carillon-worker bin/cronctl $(DOUBLE) $(ETCD) ## Test the units with systemd in a container, about 2 minutes; needs root and systemd-nspawn
	bash test/systemd/run.sh

.PHONY: check
check: ## Check formatting, vet, go fix, the layers of packages, and commit subjects
	@files=$$(gofmt -l *.go bench carillontest cmd deploy examples internal local lock test web/*.go); test -z "$$files" || { echo "$$files"; echo 'run gofmt -w on these files' >&2; exit 1; }
	$(PURE) vet ./...
	GOARCH=arm64 $(PURE) vet ./internal/executor/spawn
	@fixes=$$($(PURE) fix -diff ./...) || true; test -z "$$fixes" || { echo "$$fixes"; echo 'run go fix ./...' >&2; exit 1; }
	$(PURE) test ./internal/archtest
	tools/subjects.sh

.PHONY: lint
lint: ## Run golangci-lint; building it takes some minutes, once
	cd tools && $(GO) build -buildvcs=false -o $(CURDIR)/bin/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	bin/golangci-lint run ./...

# Prometheus' packages are those of a module of their own; building them takes some minutes, once. Nothing here discovers
# services, and without that they are half as many.
.PHONY: lint-metrics
lint-metrics: ## Test alert rules and boards with Prometheus' packages, and the names of metrics
	cd test/prometheus && CGO_ENABLED=0 $(GO) test -count 1 -tags remove_all_sd ./...
	$(PURE) test -count 1 ./internal/platform/metrics ./deploy -run 'NamesAndUnits|Metrics|Condition'

# The linters have a folder of their own, so that the console need not install them.
.PHONY: lint-api
lint-api: need-node tools/openapi/node_modules ## Lint the OpenAPI documents with Redocly and Spectral
	cd tools/openapi && REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true npx --no-install redocly lint
	cd tools/openapi && npx --no-install spectral lint --fail-severity=warn ../../api/openapi.json ../../api/openapi-3.0.json

tools/openapi/node_modules: tools/openapi/package-lock.json
	cd tools/openapi && npm ci --ignore-scripts --no-audit --no-fund
	touch $@

# Checks of a release. govulncheck uses the database at VULNDB.
VULNDB ?= https://vuln.go.dev

.PHONY: supply-chain verify reproducible sbom govulncheck
supply-chain: verify reproducible sbom govulncheck ## Check a release: modules, reproducible builds, contents, known vulnerabilities

verify: ## Verify all modules against go.sum
	@for m in . tools test/etcd35 test/etcdctl test/mongodouble test/prometheus; do echo "$$m: $$(cd $$m && $(GO) mod verify)" || exit 1; done

# The second build uses only the sources: another folder, another build cache.
reproducible: build ## Build twice, compare, and write bin/SHA256SUMS
	@dir=$$(mktemp -d); trap 'chmod -R u+w "$$dir"; rm -rf "$$dir"' EXIT; mkdir "$$dir/again"; \
	git ls-files -z | xargs -0 ls -d 2>/dev/null | tar -c -T - | tar -x -C "$$dir/again"; \
	GOCACHE="$$dir/cache" $(MAKE) -s -C "$$dir/again" build VERSION='$(VERSION)'; \
	for b in $(BINARIES); do cmp "$$b" "$$dir/again/$$b" || { echo "$$b cannot be reproduced from its sources" >&2; exit 1; }; done
	cd bin && sha256sum $(notdir $(BINARIES)) > SHA256SUMS && cat SHA256SUMS

sbom: build ## Write the bill of materials: bin/sbom.cdx.json
	$(GO) run ./deploy/sbom -version '$(VERSION)' -console web/package-lock.json $(BINARIES) > bin/sbom.cdx.json

govulncheck: ## Report known vulnerabilities in reachable code
	cd tools && $(GO) build -buildvcs=false -o $(CURDIR)/bin/govulncheck golang.org/x/vuln/cmd/govulncheck
	bin/govulncheck -db '$(VULNDB)' ./...

.PHONY: web
web: need-node web/node_modules ## Generate the console's types and build it into web/dist
	cd web && npm run gen && npm run build

.PHONY: generate
# The examples of the API are recorded from a run, with its times and identifiers: only when operations change, as their
# test says.
generate: need-node web/node_modules ## Write the files that tests compare: pages, OpenAPI, client, types
	@for p in $$(grep -rlE 'flag\.Bool\("update"' --include='*_test.go' cmd internal deploy | xargs -n1 dirname | sort -u | grep -v /contract$$); do \
		echo "generate ./$$p"; $(GO) test ./$$p -update >/dev/null || exit 1; done
	$(GO) generate ./internal/apiclient
	cd web && npm run gen

web/node_modules: web/package-lock.json
	cd web && npm ci --no-audit --no-fund
	touch web/node_modules

.PHONY: mongodouble
mongodouble: $(DOUBLE) ## Build the MongoDB double that tests use

.PHONY: clean
clean: ## Remove built files
	rm -rf bin web/node_modules

.PHONY: need-compiler need-node need-chromium need-network
need-compiler:
	@tools/setup.sh compiler
need-node:
	@command -v node >/dev/null && command -v npm >/dev/null || { echo 'make: Node is missing: install Node 20.19 or newer, with npm' >&2; exit 1; }
need-chromium:
	@CHROMIUM='$(CHROMIUM)' tools/setup.sh browser
need-network:
	@tools/setup.sh network
