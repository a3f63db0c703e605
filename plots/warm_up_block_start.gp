# SPDX-License-Identifier: Apache-2.0
# How long after the first block of a launch so many multiprocessors have begun theirs.
# Row: block_start_skew warm_up - block_start_skew block_threads=32;blocks=multiprocessors multiprocessors
# Row: block_start_skew/all? warm_up - block_start_skew block_threads=32;blocks=multiprocessors none
# Row: all_busy_latency? warm_up - all_busy_latency block_threads=32;blocks=multiprocessors none

all = position('block_start_skew/all')
busy = position('all_busy_latency')
top = all ? median[all] : 0
stats data index 0 using (top = $2 > top ? $2 : top, 1) nooutput
top = top > 0 ? top : 1

set logscale x 2
set xrange [1.7:160]
set yrange [0:top * 1.25]
set xtics (2, 4, 8, 16, 32, 64, 128)
set grid xtics ytics
set xlabel 'multiprocessors that have begun a block (logarithmic)' offset 0, 0.4 textcolor rgb ink
set ylabel 'ns after the first' textcolor rgb ink

eval heading('One launch: when its blocks begin')
set lmargin at screen 0.09
set rmargin at screen 0.975
set tmargin at screen 0.84
set bmargin at screen 0.165
if (all) {
    set arrow from graph 0, first median[all] to graph 1, first median[all] nohead dt 3 lw 2 lc rgb '#444444'
    set label 51 at graph 0.02, first median[all] offset 0, 0.7 font ',17' textcolor rgb ink \
        sprintf('all: %.0f ns%s', median[all], star(all))
}
if (busy) {
    set label 52 at graph 0.02, graph 0.95 font ',17' textcolor rgb ink \
        sprintf('from the host''s call until all are busy: %s ± %s %s%s', show(median[busy]), show(bound[busy]), unit, star(busy))
}
set label 50 at screen 0.02, 0.028 font ',15' textcolor rgb grey \
    'Mark: median, hollow where unsteady.  Bar: its 95 % interval.  A block of one warp on each multiprocessor.'
plot data index 0 using 1:2:(real(strcol(3))):(real(strcol(4))) with yerrorbars pt 0 lw 2 lc rgb '#0072b2' notitle, \
    data index 0 using 1:2 with lines lw 2 lc rgb '#0072b2' notitle, \
    data index 0 using 1:2:(7 - $6) with points pt variable ps 1.6 * point_scale lw 2 lc rgb '#0072b2' notitle
