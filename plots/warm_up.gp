# SPDX-License-Identifier: Apache-2.0
# Cycles of each iteration of a loop, from a kernel's first on: straight code, and branches of the same size.
# Row: iteration/straight warm_up straight iteration block_threads=32;blocks=1;state=after_evictor iteration
# Row: iteration/same? warm_up branch_same iteration block_threads=32;blocks=1;state=after_evictor iteration
# Row: iteration/random warm_up branch_random iteration block_threads=32;blocks=1;state=after_evictor iteration
# Row: iteration/divergent? warm_up branch_divergent iteration block_threads=32;blocks=1;state=after_evictor iteration

named(i) = way(i) eq 'straight' ? 'straight' : way(i) eq 'same' ? 'branches, always the same' : \
    way(i) eq 'random' ? 'branches at random' : 'branches, both ways'
hue(i) = way(i) eq 'straight' ? '#222222' : way(i) eq 'same' ? '#0072b2' : way(i) eq 'random' ? '#d98c00' : '#b03060'
shape(i) = way(i) eq 'straight' ? 7 : way(i) eq 'same' ? 5 : way(i) eq 'random' ? 9 : 11
top = 0
do for [i = 1:count] { stats data index i - 1 using (top = $2 > top ? $2 : top, 1) nooutput }

# Iteration 0 has a place on a logarithmic axis as the first one.
set logscale x 2
set xrange [0.85:80]
set yrange [0:top * 1.1]
set xtics ('0' 1, '1' 2, '2' 3, '3' 4, '7' 8, '15' 16, '31' 32, '63' 64)
set grid xtics ytics
set xlabel 'iteration, from the kernel''s first (logarithmic)' offset 0, 0.4 textcolor rgb ink
set ylabel 'cycles' textcolor rgb ink

eval heading('The first iterations of a loop')
set lmargin at screen 0.09
set rmargin at screen 0.975
set tmargin at screen 0.79
set bmargin at screen 0.165
set key at screen 0.985, 0.84 right center horizontal Left reverse samplen 2 font ',16' textcolor rgb ink
set label 50 at screen 0.02, 0.028 font ',15' textcolor rgb grey \
    'Mark: median, hollow where unsteady.  Bar: its 95 % interval.  Behind other code; one warp; eight pieces of 256 bytes an iteration.'
plot for [i = 1:count] data index i - 1 using ($1 + 1):2:(bar_end(strcol(3), $2)):(bar_end(strcol(4), $2)) \
        with yerrorbars pt 0 lw 2 lc rgb hue(i) notitle, \
    for [i = 1:count] data index i - 1 using ($1 + 1):2 with lines lw 2 lc rgb hue(i) notitle, \
    for [i = 1:count] data index i - 1 using ($1 + 1):2:(shape(i) - $6) \
        with points pt variable ps 1.6 * point_scale lw 2 lc rgb hue(i) notitle, \
    for [i = 1:count] keyentry with points pt shape(i) ps 1.6 * point_scale lc rgb hue(i) title named(i)
