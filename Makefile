.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

LINT := go tool -modfile=tools/go.mod golangci-lint
FUZZTIME ?= 60s
KILLS ?= 200
BACKLOG ?= 200000
SEQUENCES ?= 10000
BENCH ?= .

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/gateway
	go build -o bin/gateway ./cmd/gateway

.PHONY: generate
generate: ## Write the generated code anew
	go tool gqlgen generate
	cd internal/demo/upstream && go tool gqlgen generate
	cd test/upstreams/gqlgen && go tool gqlgen generate

.PHONY: verify
verify: generate ## Fail when committed code is not what the generators write
	go mod tidy
	go -C tools mod tidy
	@build/clean-tree

.PHONY: fmt
fmt: ## Format the code
	$(LINT) fmt

.PHONY: lint
lint: ## Run the linters
	$(LINT) run

.PHONY: test
test: ## Run all tests with the race detector; installs PostgreSQL, PgBouncer and Node.js where it can
	@build/need go cc postgres pgbouncer node npm
	go test -race ./...

.PHONY: conformance
conformance: ## Ask five GraphQL servers directly and through the gateway, 2000 made-up documents each
	@build/need go cc postgres node npm
	go test -race -count=1 -v ./test/conformance -documents 2000

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME (60s)
	@build/fuzz $(FUZZTIME)

.PHONY: chaos
chaos: ## Kill nodes KILLS (200) times under load, and break all else; BACKLOG (200000) of a tenant; 10000 sequences against the model
	@build/need go cc postgres pgbouncer
	go test -race -count=1 -v -timeout 60m ./test/chaos -kills $(KILLS)
	go test -count=1 -v -parallel 1 ./test/chaos -run 'Backlog|Cap' -backlog $(BACKLOG) -kills 100 -quick
	go test -race -count=1 -timeout 60m ./internal/asyncop/sqlite ./internal/asyncop/postgres -run WhatTheModelDoes -rapid.checks $(SEQUENCES)

.PHONY: mutants
mutants: ## Break the guards of the stores' statements one by one; the model check must find each
	@build/need go cc postgres
	@build/mutants

.PHONY: bench-forward
bench-forward: ## Compare a query through the gateway with a direct one; start a hundred tenants
	@build/need go
	go test ./internal/server -run CopiesAnAnswer -bench Forward -benchtime 2000x
	go test ./internal/executor -run HundredTenants -bench HundredTenants -benchtime 5x

.PHONY: bench
bench: ## Run the benchmarks that match BENCH (all)
	@build/need go postgres
	go test -run '^$$' -bench '$(BENCH)' -benchmem ./...
