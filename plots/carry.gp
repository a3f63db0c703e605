# SPDX-License-Identifier: Apache-2.0
# What passing an intermediate from a producer to a consumer costs, over its size, by the way that it takes.
# Row: carry_cost/kernels carry kernels carry_cost block_threads=1024;blocks=resident bytes
# Row: carry_cost/kernels_own? carry kernels_own carry_cost block_threads=1024;blocks=resident bytes
# Row: carry_cost/phases? carry phases carry_cost block_threads=1024;blocks=resident bytes
# Row: carry_cost/shared? carry shared carry_cost block_threads=1024;blocks=resident bytes
# Row: duration/registers? carry registers duration block_threads=1024;blocks=resident bytes

named(i) = way(i) eq 'kernels' ? 'two kernels' : way(i) eq 'kernels_own' ? 'two kernels, own items' : \
    way(i) eq 'phases' ? 'two phases of a kernel' : way(i) eq 'shared' ? 'shared memory' : 'the whole kernel, in registers'
hue(i) = way(i) eq 'kernels' ? '#b03060' : way(i) eq 'kernels_own' ? '#7a5195' : way(i) eq 'phases' ? '#d98c00' : \
    way(i) eq 'shared' ? '#0072b2' : '#222222'
dashes(i) = way(i) eq 'registers' ? 2 : 1
shape(i) = way(i) eq 'kernels' ? 7 : way(i) eq 'kernels_own' ? 13 : way(i) eq 'phases' ? 5 : \
    way(i) eq 'shared' ? 9 : 11

# A cost below the clock's step has no place on a logarithmic axis.
us(ns) = ns > 0 ? ns / 1e3 : NaN
set logscale xy
set xrange [2500:5e8]
set xtics ('4 KiB' 4096, '16' 16384, '64' 65536, '256' 262144, '1 MiB' 1048576, '4' 4194304, '16' 16777216, '64' 67108864, \
    '256 MiB' 268435456)
eval 'set ytics ('.ticks_log.')'
set grid xtics ytics
set xlabel 'intermediate (logarithmic)' offset 0, 0.4 textcolor rgb ink
set ylabel 'µs (logarithmic)' textcolor rgb ink

eval heading('An intermediate: what passing it on costs')
set lmargin at screen 0.1
set rmargin at screen 0.975
set tmargin at screen 0.79
set bmargin at screen 0.165
set key at screen 0.985, 0.84 right center horizontal Left reverse samplen 2 font ',16' textcolor rgb ink
set label 50 at screen 0.02, 0.028 font ',15' textcolor rgb grey \
    'Mark: median, hollow where unsteady.  Bar: its 95 % interval.  Passed through: what it takes longer than in registers.'
plot for [i = 1:count] data index i - 1 using 1:(us($2)):(us(bar_end(strcol(3), $2))):(us(bar_end(strcol(4), $2))) \
        with yerrorbars pt 0 lw 2 lc rgb hue(i) notitle, \
    for [i = 1:count] data index i - 1 using 1:(us($2)) with lines lw 2 dt dashes(i) lc rgb hue(i) notitle, \
    for [i = 1:count] data index i - 1 using 1:(us($2)):(shape(i) - $6) \
        with points pt variable ps 1.6 * point_scale lw 2 lc rgb hue(i) notitle, \
    for [i = 1:count] keyentry with points pt shape(i) ps 1.6 * point_scale lc rgb hue(i) title named(i)
