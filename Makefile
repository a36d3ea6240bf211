# make demo   set up what is missing, run a real co-simulation, print the guest's verdict
# make test   set up what is missing, run every check (what CI runs)
# make check  what every commit passes: format, vet, staticcheck, unit tests with -race
# make help   the rest

SHELL       := /bin/sh
GO          ?= go
MODULES     := topology adapters runtime relay relay/bench resources cmd/cosim examples/cartridges examples/custom-host examples/embed-relay examples/inspect examples/loopback examples/pci-dma/check scripts/mutants
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.7.0
COSIM       := build/cosim
SOURCES     := $(shell find . -name '*.go' -o -name go.mod -o -name '*.yaml' | grep -v '^./build/')

.PHONY: help build demo test check fmt vet unit e2e endtoend fuzz soak mutants requirements bench clean

help:
	@sed -n 's/^\([a-z0-9]*\):.*## /\1\t/p' Makefile | expand -t 10

build: $(COSIM) build/loopback build/pci-dma-check ## build cosim and the programs of the examples

$(COSIM): $(SOURCES)
	$(GO) build -C cmd/cosim -o $(CURDIR)/$@ .

build/loopback: $(SOURCES)
	$(GO) build -C examples/loopback -o $(CURDIR)/$@ .

build/pci-dma-check: $(SOURCES)
	$(GO) build -C examples/pci-dma/check -o $(CURDIR)/$@ .

demo: build ## run a real co-simulation and print the guest's verdict
	@scripts/demo

test: setup fmt vet e2e unit ## run every check

check: fmt vet ## format, vet, staticcheck, unit tests with the race detector
	@scripts/each "$(MODULES)" $(GO) test -race -short ./...

.PHONY: setup
setup:
	@scripts/setup
	@scripts/peers

fmt:
	@out=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$out" ] || { echo "not formatted: $$out"; exit 1; }

vet:
	@scripts/each "$(MODULES)" $(GO) vet ./...
	@scripts/each "$(MODULES)" $(GO) run $(STATICCHECK) ./...

# Each module is tested by itself, outside the workspace; vet and check work inside it.
# The tests of relay/interop talk to the published package, in the two releases that setup installs.
# With the race detector the whole relay carries fewer requests: hence once more without. Many tests wait more than they
# work: hence four packages at a time. What is allocated can be counted without the race detector alone.
unit: build
	@COSIM_CAPDAG_PYTHON=$(CURDIR)/build/capdag/bin/python COSIM_CAPDAG_V4_PYTHON=$(CURDIR)/build/capdag-v4/bin/python \
		GOWORK=off scripts/each "$(MODULES)" $(GO) test -race -p 4 ./...
	@GOWORK=off scripts/each relay $(GO) test -tags framepoison ./frame ./flow ./bridge ./relaytest ./internal/inbox ./internal/outbox
	@cd relay && GOWORK=off $(GO) test -run 'Alloc|Memory' ./...
	@cd relay && GOWORK=off $(GO) test -run '^TestEveryRequestEndsOnceAndNothingIsLeft$$' ./endtoend

e2e: build
	@scripts/demo

fuzz: ## fuzz every target, 5 min for those of the relay, 60 s for the others
	@scripts/fuzz "$(filter-out relay,$(MODULES))" $${FUZZTIME:-60s}
	@scripts/fuzz relay $${FUZZTIME:-5m}

soak: ## carry 10 million frames over two bridges, then requests among hosts that come and go for 30 min
	@cd relay && BRIDGE_SOAK=$${FRAMES:-10000000} $(GO) test -count=1 -v -timeout 60m -run '^TestSoak$$' ./bridge
	@cd relay && ENDTOEND_SOAK=$${SOAKTIME:-30m} $(GO) test -race -count=1 -v -timeout 120m -run '^TestSoak$$' ./endtoend

endtoend: ## run 10 000 requests through the whole relay, ten times
	@cd relay && $(GO) test -count=$${RUNS:-10} -v -timeout 120m -run '^TestEveryRequestEndsOnceAndNothingIsLeft$$' ./endtoend

mutants: ## break a rule of each requirement; some test has to notice
	@$(GO) run -C scripts/mutants .

requirements: ## print which tests show each requirement
	@$(GO) run -C scripts/mutants . -requirements

bench: ## run the benchmarks
	@scripts/each "topology runtime" $(GO) test -run '^$$' -bench . ./...

clean: ## remove what was built
	rm -rf build .cosim
