# SPDX-License-Identifier: Apache-2.0
# liftoff: `make run` measures, `make check` tests, `make install` installs. V=1 shows the commands.
BUILD     ?= build
ifneq ($(words $(CURDIR)) $(words $(BUILD)),1 1)
$(error liftoff cannot be built under a path with spaces: $(CURDIR), $(BUILD))
endif
.DEFAULT_GOAL := all

CC        ?= cc
CFLAGS    ?= -O2 -g
CUDA_HOME ?= $(firstword $(wildcard /usr/local/cuda) $(patsubst %/bin/nvcc,%,$(shell command -v nvcc)))
NVCC      ?= $(firstword $(wildcard $(CUDA_HOME)/bin/nvcc) $(shell command -v nvcc))
PREFIX    ?= /usr/local
RESULTS   ?= results
VERSION   := $(shell scripts/version)
Q         := $(if $(V),,@)

COMPILER  := $(shell $(CC) --version | head -1 | tr -d '"')
# Tests are built with warnings as errors. That makes no other code, so `make check` takes what `make` has built.
WERROR    ?= $(if $(filter check check-all,$(MAKECMDGOALS)),-Werror)
LANGUAGE  := -std=c11 -D_GNU_SOURCE -I. -I$(BUILD) -Wall -Wextra -Wpedantic -Wshadow -Wno-missing-field-initializers -fno-strict-aliasing
BASE       = $(LANGUAGE) $(WERROR) -MMD -MP
HWLOC_CFLAGS := $(shell pkg-config --cflags hwloc 2>/dev/null)
HWLOC_LIBS   := $(shell pkg-config --libs hwloc 2>/dev/null || echo -lhwloc)

BENCHES := $(sort $(basename $(notdir $(wildcard bench/*.c))))
KERNELS := $(sort $(wildcard backends/kernels/*.cu))
COMMON  := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard common/*.c)))
HARNESS := $(COMMON) $(patsubst %,$(BUILD)/bench/%.o,$(BENCHES)) $(BUILD)/registry.o $(BUILD)/backends/reason.o
HOST    := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard backends/host/*.c))) $(KERNELS:%.cu=$(BUILD)/host/%.o) $(BUILD)/host/backends/code.o
# The kernels whose sizes the program is to know (gpu_kernel_code_bytes).
SIZED   := backends/kernels/instruction_cache backends/kernels/warm_up
READERS := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard analysis/*.c)))
BACKENDS := host
include $(wildcard backends/*/backend.mk)
BINARIES := $(BUILD)/liftoff $(BACKENDS:%=$(BUILD)/liftoff-%)

# Kept, though only a step on the way.
.SECONDARY:
.PHONY: all run check check-all plots install uninstall clean FORCE
all: $(BINARIES)

# Registry, flags and version are remade at every call, and replaced only when different.
define replace_if_different
	@mkdir -p $(@D); cmp -s $@.new $@ && rm $@.new || mv $@.new $@
endef
$(BUILD)/registry.c: FORCE
	@mkdir -p $(@D)
	@{ echo '#include "common/bench.h"'; \
	   for b in $(BENCHES); do echo "extern const struct benchmark $${b}_benchmark;"; done; \
	   echo 'const struct benchmark *const benchmarks[] = {'; \
	   for b in $(BENCHES); do echo "    &$${b}_benchmark,"; done; echo '    0};'; } >$@.new
	$(replace_if_different)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$(COMPILER) $(CC) $(CFLAGS) $(LANGUAGE) $(LDFLAGS) $(HWLOC_CFLAGS) $(HWLOC_LIBS) $(HARNESS) $(HOST) $(READERS) $(NVCC) $(CUDA_FLAGS) $(HIPCC) $(HIP_FLAGS) $(HIP_NVIDIA_FLAGS))' >$@.new
	$(replace_if_different)
$(BUILD)/version.h: FORCE
	@mkdir -p $(@D); printf '#define LIFTOFF_VERSION "%s"\n#define LIFTOFF_COMPILER "%s, %s"\n' \
	    '$(VERSION)' '$(COMPILER)' '$(CFLAGS)' >$@.new
	$(replace_if_different)

$(BUILD)/%.o: %.c $(BUILD)/flags | $(BUILD)/version.h
	@mkdir -p $(@D); $(if $(V),,echo "  CC    $@")
	$(Q)$(CC) $(BASE) $(CFLAGS) $(HWLOC_CFLAGS) -c -o $@ $<
$(BUILD)/registry.o: $(BUILD)/registry.c $(BUILD)/flags
	$(Q)$(CC) $(BASE) $(CFLAGS) -c -o $@ $<
$(BUILD)/host/%.o: %.cu $(BUILD)/flags
	@mkdir -p $(@D); $(if $(V),,echo "  CC    $@")
	$(Q)$(CC) $(BASE) $(CFLAGS) -x c -c -o $@ $<

$(BUILD)/host/code_sizes: $(SIZED:%=$(BUILD)/host/%.o) scripts/code-sizes
	$(Q)scripts/code-sizes $(filter %.o,$^) >$@.new && mv $@.new $@
define code_object
	@mkdir -p $(@D); $(if $(V),,echo "  CC    $@")
	$(Q)$(CC) $(BASE) $(CFLAGS) -DCODE_SIZES='"$(filter %/code_sizes,$^)"' -c -o $@ $<
endef
$(BUILD)/host/backends/code.o: backends/code.c $(BUILD)/host/code_sizes $(BUILD)/flags
	$(code_object)

# bench/submission.c counts the ioctl calls of shared objects too: they are to find the one of this binary.
COUNTED = -Wl,--export-dynamic-symbol=ioctl -ldl
LINK = @$(if $(V),,echo "  LINK  $@";) $(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^)
$(BUILD)/liftoff-host: $(HARNESS) $(HOST) $(BUILD)/flags
	$(LINK) $(COUNTED) $(HWLOC_LIBS) -lpthread -lm
$(BUILD)/liftoff: $(READERS) $(BUILD)/common/result.o $(BUILD)/common/stats.o $(BUILD)/common/options.o $(BUILD)/common/options_pages.o $(BUILD)/flags
	$(LINK) -lm

# --- Tests -------------------------------------------------------------------------------------------------------------

UNITS   := $(patsubst tests/%.c,$(BUILD)/tests/%,$(sort $(wildcard tests/unit_*.c)))
SCRIPTS := $(sort $(filter-out tests/lib.sh tests/compile_%.sh tests/variant_%.sh,$(wildcard tests/*.sh)))
SLOW    := $(sort $(wildcard tests/compile_*.sh tests/variant_*.sh))
export BUILD CC

# Every object but the two mains; the linker takes what a test needs.
$(BUILD)/tests/all.a: $(filter-out %/main.o,$(HARNESS) $(HOST) $(READERS)) $(BUILD)/backends/cuda/nvml.o
	@mkdir -p $(@D); rm -f $@; $(AR) rcs $@ $^
$(BUILD)/tests/%: $(BUILD)/tests/%.o $(BUILD)/tests/all.a
	@$(if $(V),,echo "  LINK  $@";) $(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka $(COUNTED) $(HWLOC_LIBS) -lpthread -lm
$(BUILD)/tests/fake/libnvidia-ml.so.1: tests/fake_nvml.c
	@mkdir -p $(@D); $(CC) $(BASE) $(CFLAGS) -shared -fPIC -Wl,-soname,libnvidia-ml.so.1 -o $@ $<
TESTS := $(UNITS) $(BUILD)/tests/coverage $(BUILD)/tests/fuzz_result $(BUILD)/tests/fake/libnvidia-ml.so.1

check: $(BINARIES) $(TESTS)
	$(Q)tests/run --timeout 240 $(UNITS) $(BUILD)/tests/coverage $(SCRIPTS)
check-all: $(BINARIES) $(TESTS)
	$(Q)tests/run --timeout 900 $(SLOW)

# --- Measuring, drawing, installing ------------------------------------------------------------------------------------

# Every usable device, then a summary and the figures of what this run wrote.
run: all
	$(Q)scripts/run $(BUILD) $(ARGS)
plots: all
	$(Q)scripts/plot $(filter-out %.samples.csv,$(wildcard $(RESULTS)/*.csv))

PAGES := $(notdir $(BINARIES))
install: all
	$(Q)scripts/install $(BUILD) "$(DESTDIR)$(PREFIX)" $(PAGES)
uninstall:
	$(Q)scripts/install --remove "$(DESTDIR)$(PREFIX)" liftoff liftoff-host liftoff-cuda liftoff-hip liftoff-hip-nvidia

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
