# Evenkeel's build. One non-recursive makefile for every source; `make help` lists what it can do.
#
# Sources are found, not listed. All but src/main.c go into one archive, which the binary, the tests
# and the fuzzers link. A flavour (asan, tsan, growth) is the same build with other flags in its own
# folder: build/ for the ordinary one, build/$(FLAVOR)/ otherwise. The targets for people (test,
# lint, asan, ...) install what is missing and then call this makefile again for the work in
# parallel.

SHELL := /bin/bash
.SHELLFLAGS := -e -o pipefail -c
.DELETE_ON_ERROR:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules

# ---- what can be set on the command line ----

FLAVOR ?=
WERROR ?=
PREFIX ?= /usr/local
DESTDIR ?=
NO_DEPS ?=
FUZZ_SECONDS ?= 20
SEEDS ?= 1000
FIRST ?= 1
CASES ?= 20000
OCM_CASES ?= $(CASES)
KARMADA_CASES ?= $(CASES)
JOBS ?= $(shell nproc)
ARGS ?=
RELEASE_URL ?=
AGAINST ?=
NIGHTLY ?=
HUB_FLAGS ?=
UPSTREAM_FLAGS ?=
ARCHS ?= $(OWN_ARCH)
ifeq ($(origin CC),default)
CC := gcc
endif
CLANG := clang-14
# Remembers what was compiled, for another clone or flavour; make works without it.
CCACHE := $(shell command -v ccache)
OWN_ARCH = $(eval OWN_ARCH := $$(shell dpkg --print-architecture))$(OWN_ARCH)

# ---- sources ----

BUILD := build$(addprefix /,$(FLAVOR))
OBJ := $(BUILD)/obj
BINARY := $(BUILD)/evenkeel

MAIN := src/main.c
SOURCES := $(sort $(shell find src handlers certs -name '*.c'))
# Messages of protobuf, from whose definitions C is made.
GENERATED := $(BUILD)/generated
PROTOS := $(sort $(shell find src/decisions -name '*.proto'))
MESSAGES := $(PROTOS:src/decisions/%.proto=$(GENERATED)/%.pb-c)
LIB := $(BUILD)/libevenkeel.a
LIB_OBJECTS := $(patsubst %.c,$(OBJ)/%.o,$(filter-out $(MAIN),$(SOURCES))) $(MESSAGES:%=%.o)

# A test is a program of its own, test_*.c; the C files beside tests are helpers, linked into all.
TEST_SOURCES := $(sort $(shell find tests/unit tests/conformance -name '*.c'))
TEST_MAINS := $(foreach f,$(TEST_SOURCES),$(if $(filter test_%,$(notdir $f)),$f))
TEST_HELPERS := $(patsubst %.c,$(OBJ)/%.o,$(filter-out $(TEST_MAINS),$(TEST_SOURCES)))
C_TESTS := $(patsubst %.c,$(BUILD)/%,$(TEST_MAINS))
# Sanitizers make code several times as large: there the tests share one copy of it, not 300 of them.
SHARED := $(filter asan tsan,$(FLAVOR))
TEST_LIBS := $(if $(SHARED),$(BUILD)/libtests.so,$(TEST_HELPERS) $(LIB))
# What these test has no threads and no locks: the thread sanitizer would only look for what cannot be. Lint
# says which rooms belong here, and `make test` that their tests start no thread (tests/unit/one_thread.c).
ONE_THREAD := conformance $(addprefix unit/,admission candidates certs clusters config data/fluid engine \
	estimator findings karmada lines model ocm state whatif yaml)
export ONE_THREAD
ifeq ($(FLAVOR),tsan)
C_TESTS := $(filter-out $(ONE_THREAD:%=$(BUILD)/tests/%/%),$(C_TESTS))
endif
UNIT_TESTS := $(filter $(BUILD)/tests/unit/%,$(C_TESTS))
ARM64_TESTS := tests/packaging/test_image_arm64.sh
PACKAGING_TESTS := $(filter-out $(ARM64_TESTS),$(sort $(wildcard tests/packaging/test_*.sh)))
SCRIPT_TESTS := $(sort $(wildcard tests/golden/test_*.sh tests/integration/test_*.sh))

# Benchmarks: the programs that tests/bench/run.sh drives; other C files there are their parts.
BENCH_MAINS := make_state load echo_server stages reviews versus same evenness plan decide replan churn schedule estimate members
BENCHES := $(BENCH_MAINS:%=$(BUILD)/bench/%)
BENCH_SOURCES := $(sort $(wildcard tests/bench/*.c))
BENCH_PARTS := $(patsubst %.c,$(OBJ)/%.o,\
	$(filter-out $(BENCH_MAINS:%=tests/bench/%.c),$(BENCH_SOURCES)))

# The simulators: of an API server, and of a hub.
SIM := $(BUILD)/sim
SIM_HUB := $(BUILD)/sim-hub
SIM_SOURCES := $(sort $(wildcard tests/sim/*.c))
SIM_HUB_SOURCES := $(sort $(wildcard tests/sim/hub/*.c))

# Counts the work of handlers: a flavour of its own, in which every basic block is counted.
GROWTH := $(BUILD)/tests/growth/test_growth
GROWTH_SOURCES := $(sort $(wildcard tests/growth/*.c))

# Preloaded into the daemon by tests: a wall clock that jumps.
SHIM := $(BUILD)/wall_clock.so

FUZZERS := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))

# ---- flags ----

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wcast-qual \
	-Wwrite-strings -Wformat=2 -Wvla -Wundef -Wimplicit-fallthrough -Wnull-dereference
ifneq ($(findstring clang,$(CC)),)
WARNINGS += -Wthread-safety
else
WARNINGS += -Wjump-misses-init
endif

HARDENING := -fstack-protector-strong -fstack-clash-protection $(if $(SHARED),-fPIC,-fPIE) \
	$(if $(findstring x86_64,$(shell $(CC) -dumpmachine)),-fcf-protection)
HARDENING_LINK := -pie -Wl,-z,relro,-z,now,-z,noexecstack

# What a flavour adds. The sanitizers come from clang and do not go with _FORTIFY_SOURCE.
FLAGS_ := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
FLAGS_asan := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FLAGS_tsan := -fsanitize=thread -fno-omit-frame-pointer
FLAGS_growth := -fsanitize-coverage=trace-pc -fno-builtin
FLAVOR_FLAGS := $(FLAGS_$(FLAVOR))
# What the tests with asan run is what fuzzers are linked from, too: it says which way it goes.
FOLLOW_asan := -fsanitize=fuzzer-no-link
FOLLOWED := src/% handlers/% certs/% tests/fuzz/%

# An include names a room, whatever its wing: `ls src` has these.
WINGS := $(patsubst %/,%,$(sort $(wildcard src/*/)))
INCLUDES := $(WINGS:%=-I%) -I. -Itests -I$(GENERATED)
CFLAGS ?= -O2 -g
# No path of this machine in what is built: two checkouts give the same bytes.
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE $(CFLAGS) -ffp-contract=off -ffile-prefix-map=$(CURDIR)=. \
	$(WARNINGS) $(HARDENING) \
	$(FLAVOR_FLAGS) $(INCLUDES) -pthread
ALL_LDFLAGS = $(LDFLAGS) $(filter -fsanitize%,$(FLAVOR_FLAGS)) $(HARDENING_LINK) -pthread

# pkg-config is asked on first use and then remembered, so `make deps` works before it exists.
PACKAGES := libmicrohttpd gnutls openssl libcurl yaml-0.1 libcjson libprotobuf-c libnghttp2
lib_cflags = $(eval lib_cflags := $$(shell pkg-config --cflags $(PACKAGES)))$(lib_cflags)
lib_libs = $(eval lib_libs := $$(shell pkg-config --libs $(PACKAGES)) -lm)$(lib_libs)
test_libs = $(eval test_libs := $$(shell pkg-config --libs cmocka))$(test_libs)

# ---- calling this makefile again: in parallel, whatever the flavour ----

again = $(MAKE) --no-print-directory --output-sync=target \
	$(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(JOBS))
again_clang = $(again) CC=$(CLANG)
comma := ,
say = @printf '== %s\n'

# ---- targets for people ----

.DEFAULT_GOAL := all
.PHONY: all deps deps-test deps-e2e deps-lint deps-arm64 deps-packaging run demo cluster hub fleet-scale test unit sim growth mutants e2e e2e-upstream e2e-hub e2e-karmada nightly differential attack asan tsan sanitized valgrind arm64 fuzz bench same bench-live \
	lint format image chart push deb kubectl packaging install clean help

all: ## build build/evenkeel (the default)
	@+$(again) $(BINARY)

DEPS := build-essential pkg-config libmicrohttpd-dev libgnutls28-dev libssl-dev \
	libcurl4-openssl-dev libyaml-dev libcjson-dev libprotobuf-c-dev protobuf-c-compiler libnghttp2-dev \
	curl jq openssl
DEPS_TEST := $(DEPS) libcmocka-dev ccache
DEPS_E2E := $(DEPS) iproute2 nftables procps prometheus
DEPS_ARM64 := $(DEPS) gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static
DEPS_PACKAGING := $(DEPS) util-linux prometheus lintian systemd
DEPS_LINT := $(DEPS_TEST) clang-14 clang-tidy-14 clang-format-14 libclang-rt-14-dev cppcheck \
	llvm-14 shellcheck valgrind

# Does nothing when all are there. Needs root or sudo only when something is missing; NO_DEPS=1 says
# that everything is there by other means.
define install_missing
@[ -z "$(NO_DEPS)" ] || exit 0; \
command -v apt-get >/dev/null || { \
	echo 'no apt-get here; needed are what Debian calls: $(1)'; exit 0; }; \
missing=$$(for p in $(1); do \
	dpkg-query -W -f='$${db:Status-Abbrev}' $$p 2>/dev/null | grep -q ^ii || echo -n "$$p "; done); \
[ -n "$$missing" ] || exit 0; \
echo "== installing $$missing"; \
if [ $$(id -u) -eq 0 ]; then root=; elif sudo -n true 2>/dev/null || [ -t 0 ]; then root=sudo; \
else echo "missing packages; run as root: apt-get install $$missing" >&2; exit 1; fi; \
$$root apt-get update -q && $$root env DEBIAN_FRONTEND=noninteractive \
	apt-get install -q -y --no-install-recommends $$missing || { \
	echo "could not install; run as root: apt-get install $$missing" >&2; exit 1; }
endef

deps: ## install the Debian packages that building and the demo need, if any is missing
	$(call install_missing,$(DEPS))

deps-test: # ... and the tests
	$(call install_missing,$(DEPS_TEST))

deps-e2e: # ... and the end-to-end tests, which lose packets and watch alerts; Go is not among them
	$(call install_missing,$(DEPS_E2E))

deps-lint: # ... and lint, sanitizers and fuzzers
	$(call install_missing,$(DEPS_LINT))

deps-packaging: # ... and run the image in namespaces of its own
	$(call install_missing,$(DEPS_PACKAGING))

deps-arm64: # ... and the unit tests on another machine
	$(call install_missing,$(DEPS_ARM64))

STATE ?= docs/examples/three-regions/state.json
run: deps ## build and serve STATE (an example) with development certificates; ARGS="..." are passed on
	@+$(again) $(BINARY)
	@[ -e build/run/tls.crt ] || $(BINARY) certs init --dir build/run
	@$(BINARY) serve --state $(STATE) --extender-cert-file build/run/tls.crt \
		--extender-key-file build/run/tls.key $(ARGS)

demo: deps ## a guided tour against files, without a cluster
	@+$(again) $(BINARY)
	@EVENKEEL=$(BINARY) docs/demo/demo.sh

cluster: deps ## starts a real control plane with Evenkeel, and leaves it running for experiments; needs Go
	@+$(again) $(BINARY)
	@EVENKEEL=$(abspath $(BINARY)) tests/e2e/cluster.sh

hub: deps ## the same with a hub of Open Cluster Management: a dozen clusters, and Placements to spread; needs Go
	@+$(again) $(BINARY)
	@EVENKEEL=$(abspath $(BINARY)) tests/e2e/hub.sh

fleet-scale: deps ## 5,000 clusters and 1,000 Placements on a real hub, a quarter of an hour; FLEET="heartbeats=1m clusters=2000" changes it; needs Go
	@+$(again) $(BINARY)
	@EVENKEEL=$(abspath $(BINARY)) \
		EVENKEEL_E2E_FLEET='clusters=5000 placements=1000 hard=200 heartbeats=10m limit=10m $(FLEET)' \
		tests/e2e/ocm.sh -hub -run '^TestFleetScale$$'

test: deps-test ## every test that needs neither Go nor a cluster
	$(say) 'building evenkeel and its tests'
	@+$(again) $(BINARY) $(SHIM) $(C_TESTS)
	$(say) 'running $(words $(C_TESTS) $(SCRIPT_TESTS)) test programs'
	@EVENKEEL=$(BINARY) tests/run $(C_TESTS) $(SCRIPT_TESTS)

mutants: deps-test ## makes small mistakes in the code, one at a time, and checks that a test fails; ROOM="explain http", MUTANT=TEXT and WHOLE=1 choose the mistakes
	@+objects=$$(tests/mutants/run --objects) && $(again) -s $(BINARY) $(SHIM) $(TEST_HELPERS) $$objects
	@COMPILE='$(CC) $(ALL_CFLAGS) $(lib_cflags)' LINK='$(CC) $(ALL_LDFLAGS)' JOBS=$(JOBS) \
		LIBRARIES='$(LIB) $(lib_libs) $(test_libs)' TEST_HELPERS='$(TEST_HELPERS)' tests/mutants/run

unit: deps-test ## only the unit tests
	@+$(again) $(UNIT_TESTS)
	@tests/run $(UNIT_TESTS)

sim: deps-test ## SEEDS (1,000) runs against a simulated, hostile API server and a simulated hub; the first seed is FIRST (1)
	@+$(again) $(SIM) $(SIM_HUB)
	@tests/sim/run $(SEEDS) $(FIRST) $(SIM) $(SIM_HUB)

growth: deps-test ## checks that twice as much input at most doubles the work of handlers; PART=3/10 takes a tenth of the lists
	@+$(again) FLAVOR=growth run-growth

e2e: deps-e2e ## tests with a real etcd, kube-apiserver and kube-scheduler, Kubernetes' own tests, and tests with a real hub; needs Go
	@+$(again) $(BINARY) $(SHIM)
	@EVENKEEL=$(abspath $(BINARY)) tests/e2e/run.sh

e2e-upstream: deps-e2e # ... Kubernetes' own tests alone; PART=3/10 makes every tenth round of them
	@+$(again) $(BINARY)
	@EVENKEEL=$(abspath $(BINARY)) tests/e2e/upstream.sh $(UPSTREAM_FLAGS)

e2e-hub: deps-e2e # ... those on a hub alone
	@+$(again) $(BINARY)
	@EVENKEEL=$(abspath $(BINARY)) tests/e2e/ocm.sh -hub $(HUB_FLAGS)

e2e-karmada: deps-e2e ## tests Karmada's own scheduler and descheduler with Evenkeel as the estimator of real clusters; needs Go
	@+$(again) $(BINARY)
	@EVENKEEL=$(abspath $(BINARY)) tests/e2e/karmada.sh -live

differential: deps ## compares CASES (20,000) random cases with Kubernetes', Open Cluster Management's and Karmada's own code; needs Go
	@+$(again) $(BINARY) $(LIB)
	@EVENKEEL=$(abspath $(BINARY)) LIBEVENKEEL=$(abspath $(LIB)) tests/e2e/differentials.sh \
		$(CASES) $(OCM_CASES) $(KARMADA_CASES)

nightly: ## runs completely the checks of which .ci/run does a tenth: some hours; needs Go
	@+tests/nightly $(NIGHTLY)

attack: deps ## measures the harm that hostile tenants and strangers do to others; LONG=1 adds mutated bodies, and a run with sanitizers; needs Go
	@+$(again) $(BINARY)
ifneq ($(LONG),)
	@+$(MAKE) --no-print-directory deps-lint
	@+$(again_clang) FLAVOR=asan build/asan/evenkeel run-raw-tests
endif
	@EVENKEEL=$(abspath $(BINARY)) LONG=$(LONG) SANITIZED=build/asan/evenkeel \
		tests/attack/run.sh $(ATTACK_FLAGS)

asan: deps-lint ## the C tests under the address, undefined-behaviour and leak sanitizers
	$(say) 'C tests with -fsanitize=address,undefined (build/asan)'
	@+$(again_clang) FLAVOR=asan run-c-tests

tsan: deps-lint ## the C tests under the thread sanitizer
	$(say) 'C tests with -fsanitize=thread (build/tsan)'
	@+$(again_clang) FLAVOR=tsan run-c-tests

sanitized: deps-lint ## only builds the programs that asan, tsan and fuzz run
	@+$(again_clang) FLAVOR=asan c-tests $(FUZZERS:%=build/asan/fuzz_%)
	@+$(again_clang) FLAVOR=tsan c-tests

valgrind: deps-lint ## the C tests under valgrind's memcheck (slow)
	$(say) 'C tests under valgrind'
	@+TEST_MAY_SKIP='$(UNDER_OTHER_MALLOC)' TEST_UNDER='valgrind -q --error-exitcode=99 --leak-check=full' $(again) run-c-tests

arm64: deps-arm64 ## the unit tests on arm64, cross-compiled and run by qemu; and an image for both architectures; needs Go
	@tests/arm64.sh
	@+$(again) $(BINARY)
	@tests/tools/build.sh crane
	@EVENKEEL=$(BINARY) tests/run $(ARM64_TESTS)

fuzz: deps-lint ## every fuzzer for FUZZ_SECONDS (20) from its corpus in tests/fuzz/corpus
	$(say) 'building $(words $(FUZZERS)) fuzzers (build/asan)'
	@+$(again_clang) FLAVOR=asan $(FUZZERS:%=build/asan/fuzz_%)
	$(say) 'fuzzing for $(FUZZ_SECONDS) s each'
	@+$(again_clang) --keep-going FLAVOR=asan $(FUZZERS:%=run-fuzz-%)

bench: deps ## benchmarks; QUICK=1 for a short run; AGAINST=COMMIT races the daemon of that commit instead
	@+$(again) $(BINARY) $(BENCHES)
ifeq ($(AGAINST),)
	@tests/e2e/peer.sh || echo '== going on without the peer'
	@EVENKEEL=$(BINARY) QUICK=$(QUICK) tests/bench/run.sh
	@[ -n '$(QUICK)' ] || EVENKEEL=$(abspath $(BINARY)) tests/e2e/ocm.sh -bench || echo '== going on without Open Cluster Management'
	@[ -n '$(QUICK)' ] || EVENKEEL=$(abspath $(BINARY)) tests/e2e/karmada.sh -bench || echo '== going on without Karmada'
else
	@+EVENKEEL=$(BINARY) FLAVOR=$(FLAVOR) QUICK=$(QUICK) tests/bench/against.sh '$(AGAINST)'
endif

same: deps ## checks that answers to random questions are byte for byte the answers of the daemon of AGAINST=COMMIT
	@+$(again) $(BINARY) $(BENCHES)
	@+EVENKEEL=$(BINARY) FLAVOR=$(FLAVOR) tests/bench/same.sh '$(AGAINST)'

bench-live: deps ## benchmarks with a real, large control plane, and in scheduler_perf: two hours, or some minutes with QUICK=1; needs Go
	@+$(again) $(BINARY)
	@EVENKEEL=$(abspath $(BINARY)) QUICK=$(QUICK) tests/bench/live.sh

lint: deps-lint ## formatting, static analysis, layering, banned functions, shell scripts
	@+$(again) -s $(MESSAGES:%=%.h)
	@CC=$(CLANG) TIDY_FLAGS='$(LINT_FLAGS)' JOBS=$(JOBS) tests/lint/run

format: ## format every C file in place
	@find src handlers certs tests -name '*.[ch]' -exec clang-format-14 -i {} +

# Of other architectures than this machine's there is arm64.
OTHER_ARCHS = $(filter-out $(OWN_ARCH),$(ARCHS))
OTHER_IMAGES = $(foreach a,$(OTHER_ARCHS),build/$a/evenkeel build/$a/sysroot)
image: deps ## a container image, build/image/image.tar (an OCI layout), without a container engine; ARCHS="amd64 arm64" makes one index of both
	@[ -n '$(filter $(OWN_ARCH),$(ARCHS))' ] && [ -z '$(filter-out arm64,$(OTHER_ARCHS))' ] || { \
		echo 'ARCHS must have $(OWN_ARCH), this machine, and beside it only arm64: $(ARCHS)' >&2; exit 1; }
	@+$(if $(OTHER_ARCHS),$(MAKE) --no-print-directory deps-arm64)
	@$(if $(OTHER_ARCHS),charts/arm64.sh build/arm64/evenkeel)
	@+$(again) $(BINARY)
	@charts/image/build.sh $(BINARY) build/image $(OTHER_IMAGES)

chart: ## the Helm chart, build/chart/evenkeel-VERSION.tgz; needs Go
	@tests/tools/build.sh helm
	@charts/package.sh build/chart

push: need-image-name image chart ## image and chart, and the image pushed to IMAGE=REGISTRY/NAME[:TAG]; needs Go
	@tests/tools/build.sh crane
	@charts/image/push.sh build/image '$(IMAGE)'

.PHONY: need-image-name
need-image-name:
	@[ -n '$(IMAGE)' ] || { echo 'Say where to push it: make push IMAGE=registry.example.com/evenkeel' >&2; exit 2; }

deb: deps ## a Debian package with a hardened systemd unit, build/deb/
	@+$(again) $(BINARY)
	@charts/deb/build.sh $(BINARY) build/deb

kubectl: ## kubectl evenkeel for krew, build/kubectl/; RELEASE_URL=https://... is where the archive will be
	@RELEASE_URL='$(RELEASE_URL)' charts/kubectl/package.sh build/kubectl

packaging: deps-packaging ## makes image, chart and Debian package twice, and tries them without a cluster; needs Go
	@+$(again) $(BINARY)
	@tests/tools/build.sh helm crane helm-unittest
	@EVENKEEL=$(BINARY) tests/run $(PACKAGING_TESTS)

install: ## install the binary, its manual and completion below PREFIX (/usr/local), inside DESTDIR
	@+$(again) $(BINARY)
	install -D -m 755 $(BINARY) $(DESTDIR)$(PREFIX)/bin/evenkeel
	install -D -m 644 LICENSE $(DESTDIR)$(PREFIX)/share/doc/evenkeel/LICENSE
	install -d $(addprefix $(DESTDIR)$(PREFIX)/share/,man/man1 bash-completion/completions zsh/vendor-completions)
	$(BINARY) man >$(DESTDIR)$(PREFIX)/share/man/man1/evenkeel.1
	$(BINARY) completion bash >$(DESTDIR)$(PREFIX)/share/bash-completion/completions/evenkeel
	$(BINARY) completion zsh >$(DESTDIR)$(PREFIX)/share/zsh/vendor-completions/_evenkeel

clean: ## remove everything that was built
	rm -rf build

help: ## this list
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 14

# ---- the work itself ----

# What the files are built with. Rewritten only when it changed, and then everything is rebuilt.
.PHONY: always
$(BUILD)/flags: always
	@mkdir -p $(@D)
	@echo '$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS)$(FOLLOW_$(FLAVOR))' | cmp -s - $@ || \
		echo '$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS)$(FOLLOW_$(FLAVOR))' >$@

# The same for the commit, which only version.c is told.
COMMIT = $(or $(shell git describe --always --dirty --abbrev=12 2>/dev/null),unknown)
$(BUILD)/commit: always
	@mkdir -p $(@D)
	@echo '$(COMMIT)' | cmp -s - $@ || echo '$(COMMIT)' >$@
$(OBJ)/src/support/base/version.o: $(BUILD)/commit
$(OBJ)/src/support/base/version.o: FILE_FLAGS = -DEVENKEEL_COMMIT='"$(file <$(BUILD)/commit)"'

# The same for the list of sources, so that a removed one leaves the archive.
$(BUILD)/sources: always
	@mkdir -p $(@D)
	@echo '$(LIB_OBJECTS)' | cmp -s - $@ || echo '$(LIB_OBJECTS)' >$@

# Into the folder of the definition, below $(GENERATED).
$(GENERATED)/%.pb-c.c $(GENERATED)/%.pb-c.h &: src/decisions/%.proto
	@mkdir -p $(GENERATED)
	@protoc-c --proto_path=src/decisions --c_out=$(GENERATED) $<

$(GENERATED)/%.o: $(GENERATED)/%.c $(BUILD)/flags
	@echo '  cc    $<'
	@$(CCACHE) $(CC) $(ALL_CFLAGS) $(lib_cflags) $(if $(WERROR),-Werror) -MMD -MP -c -o $@ $<

$(OBJ)/%.o: %.c $(BUILD)/flags | $(MESSAGES:%=%.h)
	@mkdir -p $(@D)
	@echo '  cc    $<'
	@$(CCACHE) $(CC) $(ALL_CFLAGS) $(lib_cflags) $(if $(filter $(FOLLOWED),$<),$(FOLLOW_$(FLAVOR))) $(if $(WERROR),-Werror) $(FILE_FLAGS) -MMD -MP -c -o $@ $<

$(LIB): $(LIB_OBJECTS) $(BUILD)/sources
	@rm -f $@
	@$(AR) rcs $@ $(LIB_OBJECTS)

$(BINARY): $(OBJ)/src/main.o $(LIB)
	@echo '  link  $@'
	@$(CC) $(ALL_LDFLAGS) -o $@ $^ $(lib_libs)

$(BUILD)/libtests.so: $(TEST_HELPERS) $(LIB_OBJECTS) $(BUILD)/sources
	@echo '  link  $@'
	@$(CC) $(filter-out -pie,$(ALL_LDFLAGS)) -shared -o $@ $(filter %.o,$^) $(lib_libs) $(test_libs)

# More than 300 programs are linked. gold does it in less than half of the time that ld takes, and
# leaves debug information out. `make TEST_LDFLAGS= PROGRAM` links a program with debug information.
TEST_LDFLAGS_ := $(if $(shell command -v ld.gold),-fuse-ld=gold) -Wl,--strip-debug
TEST_LDFLAGS_asan := -Wl,--compress-debug-sections=zlib
TEST_LDFLAGS_tsan := $(TEST_LDFLAGS_asan)
TEST_LDFLAGS_arm64 := -Wl,--strip-debug
TEST_LDFLAGS := $(TEST_LDFLAGS_$(FLAVOR))
$(BUILD)/tests/%: $(OBJ)/tests/%.o $(TEST_LIBS)
	@mkdir -p $(@D)
	@$(CC) $(ALL_LDFLAGS) $(if $(SHARED),-Wl$(comma)-rpath$(comma)$(CURDIR)/$(BUILD)) $(TEST_LDFLAGS) \
		-o $@ $^ $(lib_libs) $(test_libs)

# What libc goes through is counted by functions in front of its own.
GROWTH_WRAPS := memcpy memmove memset memcmp memchr memmem strlen clock_real
$(GROWTH): $(GROWTH_SOURCES:%.c=$(OBJ)/%.o) $(TEST_HELPERS) $(LIB)
	@mkdir -p $(@D)
	@$(CC) $(ALL_LDFLAGS) $(GROWTH_WRAPS:%=-Wl,--wrap=%) -o $@ $^ $(lib_libs) $(test_libs)

$(SHIM): tests/shim/wall_clock.c $(BUILD)/flags
	@$(CC) -std=gnu11 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) $(if $(WERROR),-Werror) -shared -fPIC -o $@ $<

$(BENCHES): $(BUILD)/bench/%: $(OBJ)/tests/bench/%.o $(BENCH_PARTS) $(LIB)
	@mkdir -p $(@D)
	@$(CC) $(ALL_LDFLAGS) -o $@ $^ $(lib_libs)

$(SIM): $(SIM_SOURCES:%.c=$(OBJ)/%.o) $(LIB)
	@echo '  link  $@'
	@$(CC) $(ALL_LDFLAGS) -o $@ $^ $(lib_libs)

# Threads, and what they wait for, are played: tests/sim/hub/strand.h.
SIM_HUB_WRAPS := pthread_create pthread_join clock_real condition_wait condition_wait_until \
	condition_signal condition_broadcast planner_new mutex_lock mutex_unlock rwlock_read \
	rwlock_read_done rwlock_write owned_look planner_lead write_lane_new write_lane_free \
	write_lane_want write_lane_rank write_queue_next write_item_end
$(SIM_HUB): $(SIM_HUB_SOURCES:%.c=$(OBJ)/%.o) $(LIB)
	@echo '  link  $@'
	@$(CC) $(ALL_LDFLAGS) $(SIM_HUB_WRAPS:%=-Wl,--wrap=%) -o $@ $^ $(lib_libs)

# The sanitizers of clang 14 cannot stand as much address randomisation as new kernels are set to.
NO_ASLR = $(if $(FLAVOR),$(shell setarch -R true 2>/dev/null && echo setarch -R))
export ASAN_OPTIONS ?= detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS ?= print_stacktrace=1
export TSAN_OPTIONS ?= halt_on_error=1:second_deadlock_stack=1
export ASAN_SYMBOLIZER_PATH ?= /usr/bin/llvm-symbolizer-14

# Tests in which memory runs out need a malloc() of their own, which sanitizers and valgrind replace.
# The ordinary build runs them.
UNDER_OTHER_MALLOC := */base/test_pool */test_cache_memory */evenness/test_memory */test_torture */test_exec_plugin \
	*/test_fleet_memory */test_planner_memory
ifneq ($(FLAVOR),)
export TEST_MAY_SKIP ?= $(UNDER_OTHER_MALLOC)
endif

.PHONY: run-growth
run-growth: $(GROWTH)
	@tests/run $(GROWTH)

.PHONY: c-tests run-c-tests run-all-tests run-raw-tests
c-tests: $(C_TESTS)

RAW_TESTS := $(BUILD)/tests/unit/http/test_raw_requests $(BUILD)/tests/unit/http/test_raw_tls
run-raw-tests: $(RAW_TESTS)
	@$(NO_ASLR) tests/run $(RAW_TESTS)

run-c-tests: $(C_TESTS)
	@$(NO_ASLR) tests/run $(C_TESTS)

# The scripts too, against this flavour's binary: make FLAVOR=asan CC=clang-14 run-all-tests
run-all-tests: $(C_TESTS) $(BINARY) $(SHIM)
	@EVENKEEL=$(BINARY) $(NO_ASLR) tests/run $(C_TESTS) $(SCRIPT_TESTS)

$(BUILD)/fuzz_%: $(OBJ)/tests/fuzz/fuzz_%.o $(LIB)
	@$(CC) $(ALL_LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(lib_libs)

# What a fuzzer finds stays in build/: new inputs in corpus/, crashing ones in findings/.
run-fuzz-%: $(BUILD)/fuzz_%
	@mkdir -p $(BUILD)/corpus/$* $(BUILD)/findings
	@if $(NO_ASLR) $< -max_total_time=$(FUZZ_SECONDS) -timeout=5 -rss_limit_mb=2048 \
		-print_final_stats=1 -artifact_prefix=$(BUILD)/findings/$*- $(BUILD)/corpus/$* \
		$(wildcard tests/fuzz/corpus/$*) >$(BUILD)/$*.log 2>&1; \
	then echo "ok    fuzz $*: $$(sed -n 's/^stat::number_of_executed_units: *//p' \
		$(BUILD)/$*.log) inputs"; \
	else tail -n 60 $(BUILD)/$*.log; echo "FAIL  fuzz $*: see $(BUILD)/$*.log"; exit 1; fi

# clang-tidy sees every file as the compiler does.
LINT_FLAGS = $(filter-out -Wjump-misses-init -Wthread-safety,$(ALL_CFLAGS)) -Wthread-safety \
	$(lib_cflags)

-include $(MESSAGES:%=%.d) $(patsubst %.c,$(OBJ)/%.d,$(SOURCES) $(TEST_SOURCES) $(BENCH_SOURCES) $(SIM_SOURCES) $(SIM_HUB_SOURCES) \
	$(GROWTH_SOURCES) $(wildcard tests/fuzz/fuzz_*.c))
