# The commands that CI and people run. The versions of tools are in tools/*/go.mod.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS  = -s -w -X github.com/iris-oncall/iris/internal/program/server.version=$(VERSION)
PROGRAMS = iris iris-api message-processor
# Packages with goroutines or shared memory, for the race detector.
RACY = git grep -lE '\bgo func|"sync(/atomic)?"|/errgroup"' -- 'internal/*.go' ':!*_test.go' | xargs -n1 dirname | sort -u | sed 's,^,./,'

.PHONY: help dev build test race e2e chaos fuzz long lint generate verify migrate bench cover release clean

help: ## list targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | sort | expand -t 12

dev: ## run Iris on this machine (Ctrl-C stops it)
	go run ./cmd/iris dev

build: ## build the three programs into bin/
	go build -o bin/ $(addprefix ./cmd/,$(PROGRAMS))

test: ## run all tests; PostgreSQL is found or downloaded
	go test ./...

race: ## run the tests of concurrent packages with the race detector, on the downloaded PostgreSQL
	$(RACY) | xargs go run ./test/withpg go test -race -count=1 -timeout 15m

e2e: ## run the end-to-end tests of the real programs
	go test -count=1 ./test/e2e/...

chaos: ## inject random faults into the real programs, and compare the result with the promises
	test/chaos.sh

FUZZTIME ?= 30s
fuzz: ## fuzz every target of the tests for FUZZTIME
	git grep -oE '^func Fuzz[A-Za-z0-9]+' -- '*_test.go' | sed 's,/[^/]*:func , ,' | \
		while read -r folder name; do go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "./$$folder" || exit 1; done

long: chaos fuzz ## proofs that take longer than CI may

lint: ## run the linters and check the import walls
	cd tools/lint && go build -o ../../bin/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	bin/golangci-lint run ./...
	go test ./test/walls/...

generate: ## regenerate the database code from SQL
	tools/generate.sh

verify: ## check that generated code and go.mod are up to date
	tools/generate.sh --check
	go mod tidy -diff
	go vet ./...

migrate: ## migrate the database of IRIS_DATABASE_URL
	go run ./cmd/iris migrate

bench: ## measure a burst of 6000 incidents on one processor
	go run ./cmd/iris bench --burst 6000 --processors 1

cover: ## run all tests and show coverage by package
	go test -coverprofile=coverage.out -coverpkg=./internal/... ./...
	go tool cover -func=coverage.out | tail -1

release: ## build static programs with time zones, and the certificates the image needs, into dist/
	mkdir -p dist
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o dist/ $(addprefix ./cmd/,$(PROGRAMS))
	cp "$${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" dist/ca-certificates.crt

clean: ## remove built files
	rm -rf bin dist coverage.out
