# SPDX-License-Identifier: Apache-2.0
# How long an empty grid takes the device, and the host's call, over its blocks; and where the blocks begin to count.
# Row: duration geometry runtime duration block_threads=32 blocks
# Row: submit? geometry runtime submit block_threads=32 blocks
# Row: duration_per_block geometry runtime duration_per_block block_threads=32;blocks_max=1048576 none
# Row: knee_blocks geometry runtime knee_blocks block_threads=32;blocks_max=1048576 none

# The swept rows, which come first; the others are numbers.
swept = position('submit') ? 2 : 1
slope = median[position('duration_per_block')]
knee = median[position('knee_blocks')]
floor_ns = slope * knee
told(i) = metric(i) eq 'duration' ? 'duration: the device''s time for one grid' : 'submit: the host''s call'
hue(i) = metric(i) eq 'duration' ? '#0072b2' : '#d98c00'

bottom = 1e300
top = 0
last = 1
do for [i = 1:swept] {
    stats data index i - 1 using (last = $1 > last ? $1 : last, bottom = $2 > 0 && $2 < bottom ? $2 : bottom, \
        top = $2 > top ? $2 : top, 1) nooutput
}
bottom = (floor_ns < bottom ? floor_ns : bottom) / scale / 2
top = (slope * last > top ? slope * last : top) / scale * 2
inside(ns) = ns / scale < bottom ? bottom : ns / scale > top ? top : ns / scale

set logscale x 2
set logscale y 10
set xrange [0.7:last * 1.5]
set yrange [bottom:top]
set xtics ('1' 1)
do for [power = 2:30:2] {
    if (2 ** power <= last) {
        set xtics add (power < 20 ? sprintf('%d', 2 ** power) : sprintf('2^%d', power) 2. ** power)
    }
}
if (top / bottom < 1e3) { eval 'set ytics ('.ticks_log.')' }
set format y '%.10g'
set grid xtics ytics
set xlabel 'blocks of one warp (logarithmic)' offset 0, 0.4 textcolor rgb ink
set ylabel unit.' (logarithmic)' textcolor rgb ink

eval heading('An empty grid: how long its blocks take')
set lmargin at screen 0.11
set rmargin at screen 0.975
set tmargin at screen 0.79
set bmargin at screen 0.165
set key at screen 0.985, 0.84 right center horizontal Left reverse samplen 2 font ',16' textcolor rgb ink
set arrow from knee, graph 0 to knee, floor_ns / scale nohead dt 3 lw 2 lc rgb '#444444'
set label 51 at knee, graph 0.04 left offset 1, 0 font ',17' textcolor rgb ink \
    sprintf('knee_blocks: %.3g%s', knee, star(position('knee_blocks')))
set label 52 at last, slope * last / scale right offset -3, 0 font ',17' textcolor rgb ink \
    sprintf('%.3g ns a block%s', slope, star(position('duration_per_block')))
set label 50 at screen 0.02, 0.028 font ',15' textcolor rgb grey \
    'Mark: median, hollow where unsteady.  Bar: its 95 % interval.  Dashed: one block''s duration, and '. \
    'duration_per_block times blocks; they meet at the knee.'
plot floor_ns / scale with lines dt 2 lw 2 lc rgb '#888888' notitle, \
    slope * x / scale with lines dt 2 lw 2 lc rgb '#888888' notitle, \
    for [i = 1:swept] data index i - 1 using 1:($2 / scale):(inside(bar_end(strcol(3), $2))):(inside(bar_end(strcol(4), $2))) \
        with yerrorbars pt 0 lw 2 lc rgb hue(i) notitle, \
    for [i = 1:swept] data index i - 1 using 1:($2 / scale) \
        with points pt 7 ps 2.2 * point_scale lc rgb 'white' notitle, \
    for [i = 1:swept] data index i - 1 using 1:($2 / scale):((metric(i) eq 'duration' ? 7 : 5) - $6) \
        with points pt variable ps 1.6 * point_scale lw 2 lc rgb hue(i) notitle, \
    for [i = 1:swept] keyentry with points pt (metric(i) eq 'duration' ? 7 : 5) ps 1.6 * point_scale lc rgb hue(i) \
        title told(i)
