# SPDX-License-Identifier: Apache-2.0
# How liftoff-cuda is built, where there is an nvcc.
ifeq ($(NVCC),)
$(info liftoff-cuda is left out: no nvcc (set CUDA_HOME or NVCC))
else ifeq ($(shell command -v $(NVCC)),)
$(error there is no $(NVCC); an empty NVCC leaves liftoff-cuda out)
else
BACKENDS += cuda
CUDA_PRESENT := $(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d . | sort -u)
CUDA_ARCH ?= $(or $(CUDA_PRESENT),75 80 90)
CUDA_TARGETS := $(if $(filter all,$(CUDA_ARCH)),$(shell $(NVCC) --list-gpu-arch | sed 's/compute_//'),$(CUDA_ARCH))
CUDA_NEWEST  := $(lastword $(CUDA_TARGETS))
CUDA_OLDEST  := $(firstword $(CUDA_TARGETS))
CUDA_FLAGS := -std=c++17 -O2 -I. -Ibackends/cuda -Xcompiler -Wall $(foreach a,$(CUDA_TARGETS),-gencode arch=compute_$(a),code=sm_$(a)) \
              -gencode arch=compute_$(CUDA_NEWEST),code=compute_$(CUDA_NEWEST)
CUDA_OBJECTS := $(BUILD)/cuda/backends/runtime.o $(BUILD)/cuda/backends/runtime_kernel.o $(BUILD)/cuda/backends/runtime_stream.o $(BUILD)/cuda/backends/runtime_graph.o $(patsubst %.c,$(BUILD)/cuda/%.o,$(sort $(wildcard backends/cuda/*.c))) \
                $(KERNELS:%.cu=$(BUILD)/cuda/%.o) $(BUILD)/cuda/backends/chevron.o $(BUILD)/cuda/backends/images.o $(BUILD)/cuda/backends/code.o

$(BUILD)/cuda/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D); $(if $(V),,echo "  CC    $@")
	$(Q)$(CC) $(BASE) $(CFLAGS) -Ibackends/cuda -isystem $(CUDA_HOME)/include -c -o $@ $<
$(BUILD)/cuda/%.o: %.cu $(BUILD)/flags
	@mkdir -p $(@D); $(if $(V),,echo "  NVCC  $@")
	$(Q)$(NVCC) $(CUDA_FLAGS) $(if $(WERROR),-Werror all-warnings -Xcompiler $(WERROR)) -MMD -MP $(KEEP) -c -o $@ $<

# The very code that goes into the objects is kept beside them.
CUDA_SIZED := $(SIZED:%=$(BUILD)/cuda/%.o)
$(CUDA_SIZED): KEEP = --keep --keep-dir $(@:.o=.keep)
$(CUDA_SIZED): | $(CUDA_SIZED:.o=.keep)
$(CUDA_SIZED:.o=.keep):
	@mkdir -p $@
$(BUILD)/cuda/code_sizes: $(CUDA_SIZED) scripts/code-sizes
	$(Q)scripts/code-sizes $(foreach a,$(CUDA_TARGETS),$(wildcard $(CUDA_SIZED:.o=.keep/*_$a.cubin))) >$@.new && mv $@.new $@
$(BUILD)/cuda/backends/code.o: backends/code.c $(BUILD)/cuda/code_sizes $(BUILD)/flags
	$(code_object)

# Images of modules that are loaded at run time: code for all devices (PTX of the oldest), from which the others are made.
CUDA_IMAGES := $(foreach n,1 10 100 1000,$(BUILD)/cuda/images/$n.image)
$(BUILD)/cuda/images/%.ptx: backends/module.cu backends/kernels/first_launch.h $(BUILD)/flags
	@mkdir -p $(@D); $(if $(V),,echo "  NVCC  $@")
	$(Q)$(NVCC) -std=c++17 -O2 -I. -DFUNCTIONS=$* -ptx -arch=compute_$(CUDA_OLDEST) -o $@ $<
$(BUILD)/cuda/images/%.image: $(BUILD)/cuda/images/%.ptx
	@mkdir -p $(@D); $(if $(V),,echo "  NVCC  $@")
	$(Q)$(NVCC) -fatbin $(foreach a,$(CUDA_TARGETS),-gencode arch=compute_$(CUDA_OLDEST),code=sm_$a) -o $@ $<
$(BUILD)/cuda/backends/images.o: backends/images.c $(CUDA_IMAGES) $(BUILD)/flags
	@mkdir -p $(@D); $(if $(V),,echo "  CC    $@")
	$(Q)$(CC) $(BASE) $(CFLAGS) -DIMAGES='"$(BUILD)/cuda/images"' -DIMAGES_PORTABLE -c -o $@ $<
$(BUILD)/liftoff-cuda: $(HARNESS) $(CUDA_OBJECTS) $(BUILD)/flags
	$(LINK) -L$(CUDA_HOME)/lib64 -Wl,-rpath,$(CUDA_HOME)/lib64 -lcudart $(COUNTED) $(HWLOC_LIBS) -lstdc++ -lpthread -lm
endif
