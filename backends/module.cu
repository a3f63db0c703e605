// SPDX-License-Identifier: Apache-2.0
// A module of FUNCTIONS kernels: all but the last do nothing, and only the last, which proves that it ran, is ever
// launched. It includes no header of the vendor's, because the build compiles it many times.
#include "backends/kernels/first_launch.h"

#if defined(__HIP__)
#define MODULE_FUNCTION(number) extern "C" __attribute__((global)) void kernel_module_##number
#else
#define MODULE_FUNCTION(number) extern "C" __global__ void kernel_module_##number
#endif

#define ONE(n) MODULE_FUNCTION(n)(void) {}
#define NINE(n) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7) ONE(n##8) ONE(n##9)
#define TEN(n) ONE(n##0) NINE(n)
#define NINETY(n) TEN(n##1) TEN(n##2) TEN(n##3) TEN(n##4) TEN(n##5) TEN(n##6) TEN(n##7) TEN(n##8) TEN(n##9)
#define HUNDRED(n) TEN(n##0) NINETY(n)

#if FUNCTIONS >= 10
NINE(00)
#endif
#if FUNCTIONS >= 100
NINETY(0)
#endif
#if FUNCTIONS >= 1000
HUNDRED(1) HUNDRED(2) HUNDRED(3) HUNDRED(4) HUNDRED(5) HUNDRED(6) HUNDRED(7) HUNDRED(8) HUNDRED(9)
#endif

MODULE_FUNCTION(last)(struct code_argument argument) { *(volatile uint32_t *)argument.flag = argument.value; }
