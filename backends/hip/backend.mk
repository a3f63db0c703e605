# SPDX-License-Identifier: Apache-2.0
# How liftoff-hip is built, where there is a hipcc, and liftoff-hip-nvidia, which is built by `make hip-nvidia` only.
HIPCC ?= $(or $(addsuffix /bin/hipcc,$(ROCM_PATH)),$(shell command -v hipcc || ls /opt/rocm/bin/hipcc 2>/dev/null))
HIP_COMPILER := $(if $(HIPCC),$(shell command -v $(HIPCC)))
ifeq ($(HIPCC),)
$(info liftoff-hip is left out: no hipcc (set ROCM_PATH or HIPCC))
else ifeq ($(HIP_COMPILER),)
$(error there is no $(HIPCC); an empty HIPCC leaves liftoff-hip out)
else
BACKENDS += hip
HIP_ARCH ?= gfx906 gfx90a gfx1030
# Where it all is in /usr, the compilers look there without being told, and C++ needs them to look in their own order.
HIP_HOME  := $(filter-out /usr,$(or $(ROCM_PATH),$(HIP_COMPILER:%/bin/hipcc=%)))
HIP_FLAGS := -std=c++17 -O2 -I. -Ibackends/hip -Wall -Wextra $(HIP_ARCH:%=--offload-arch=%)
HIP_OBJECTS := $(patsubst %,$(BUILD)/hip/backends/%.o,runtime runtime_kernel runtime_stream runtime_graph hip/hip hip/amd hip/smi hip/module hip/share hip/graph chevron images code) \
               $(KERNELS:%.cu=$(BUILD)/hip/%.o)

$(BUILD)/hip/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D); $(if $(V),,echo "  CC    $@")
	$(Q)$(CC) $(BASE) $(CFLAGS) -D__HIP_PLATFORM_AMD__ -Ibackends/hip $(HIP_HOME:%=-isystem %/include) -c -o $@ $<
$(BUILD)/hip/%.o: %.cu $(BUILD)/flags
	@mkdir -p $(@D); $(if $(V),,echo "  HIPCC $@")
	$(Q)HIP_PLATFORM=amd $(HIPCC) $(HIP_FLAGS) $(WERROR) -MMD -MP $(KEEP) -c -o $@ $<

# The very code that goes into the objects is kept beside them.
HIP_SIZED := $(SIZED:%=$(BUILD)/hip/%.o)
$(HIP_SIZED): KEEP = --save-temps=obj
$(BUILD)/hip/code_sizes: $(HIP_SIZED) scripts/code-sizes
	$(Q)scripts/code-sizes $(foreach a,$(HIP_ARCH),$(HIP_SIZED:%.o=%-hip-amdgcn-amd-amdhsa-$a.out)) >$@.new && mv $@.new $@
$(BUILD)/hip/backends/code.o: backends/code.c $(BUILD)/hip/code_sizes $(BUILD)/flags
	$(code_object)

# Images of modules that are loaded at run time.
HIP_IMAGES := $(foreach n,1 10 100 1000,$(BUILD)/hip/images/$n.image)
$(BUILD)/hip/images/%.image: backends/module.cu backends/kernels/first_launch.h $(BUILD)/flags
	@mkdir -p $(@D); $(if $(V),,echo "  HIPCC $@")
	$(Q)HIP_PLATFORM=amd $(HIPCC) -x hip -nogpuinc -nogpulib -std=c++17 -O2 -I. -DFUNCTIONS=$* --genco $(HIP_ARCH:%=--offload-arch=%) -o $@ $<
$(BUILD)/hip/backends/images.o: backends/images.c $(HIP_IMAGES) $(BUILD)/flags
	@mkdir -p $(@D); $(if $(V),,echo "  CC    $@")
	$(Q)$(CC) $(BASE) $(CFLAGS) -DIMAGES='"$(BUILD)/hip/images"' -c -o $@ $<
$(BUILD)/liftoff-hip: $(HARNESS) $(HIP_OBJECTS) $(BUILD)/flags
	$(LINK) $(HIP_HOME:%=-L%/lib -Wl,-rpath,%/lib) -lamdhip64 $(COUNTED) $(HWLOC_LIBS) -lstdc++ -lpthread -lm
endif

# --- HIP over CUDA. HIP's headers are enough for it; what they have for CUDA they have for nvcc only. -----------------

HIP_INCLUDE ?= $(or $(HIP_HOME:%=%/include),/usr/include)
HIP_NVIDIA_FLAGS = -std=c++17 -O2 -I. -Ibackends/hip -D__HIP_PLATFORM_NVIDIA__ -Xcompiler -Wall,-Wextra \
                   $(patsubst %,-isystem %,$(filter-out /usr/include,$(HIP_INCLUDE)))
HIP_NVIDIA_OBJECTS := $(patsubst %,$(BUILD)/hip-nvidia/backends/%.o,runtime runtime_kernel runtime_stream runtime_graph hip/hip hip/nvidia hip/module hip/share hip/graph chevron) \
                      $(BUILD)/backends/cuda/nvml.o $(BUILD)/backends/cuda/environment.o $(BUILD)/backends/cuda/server.o $(BUILD)/cuda/backends/images.o $(BUILD)/cuda/backends/code.o $(KERNELS:%.cu=$(BUILD)/cuda/%.o)
.PHONY: hip-nvidia
ifeq ($(NVCC),)
hip-nvidia:
	$(error hip-nvidia needs nvcc (set CUDA_HOME or NVCC))
else
hip-nvidia: $(BUILD)/liftoff-hip-nvidia
endif

define hip_nvidia_compile
	@mkdir -p $(@D); $(if $(V),,echo "  NVCC  $@")
	$(Q)$(NVCC) -x cu $(HIP_NVIDIA_FLAGS) $(if $(WERROR),-Werror all-warnings -Xcompiler $(WERROR)) -MMD -MP -c -o $@ $<
endef
$(BUILD)/hip-nvidia/%.o: %.c $(BUILD)/flags
	$(hip_nvidia_compile)
$(BUILD)/hip-nvidia/%.o: %.cu $(BUILD)/flags
	$(hip_nvidia_compile)
# HIP's headers call the driver by name, so unlike the others this binary does not start without one.
$(BUILD)/liftoff-hip-nvidia: $(HARNESS) $(HIP_NVIDIA_OBJECTS) $(BUILD)/flags
	$(LINK) -L$(CUDA_HOME)/lib64 -L$(CUDA_HOME)/lib64/stubs -Wl,-rpath,$(CUDA_HOME)/lib64 -lcudart -lcuda $(COUNTED) $(HWLOC_LIBS) \
	    -lstdc++ -lpthread -lm
