# SPDX-License-Identifier: Apache-2.0
# What the host's call costs while the queue fills, and when it is full, with the depth at which that is.
# Row: submit submission runtime submit block_threads=32;blocks=1 queue_fill
# Row: submit/full? submission runtime submit block_threads=32;blocks=1;kernel=stamp;spin_ns=10000 queue_fill
# Row: queue_depth? submission runtime queue_depth block_threads=32;blocks=1;command=kernel argument_bytes
# Row: blocked_return? submission runtime blocked_return block_threads=32;blocks=1;command=kernel argument_bytes

full = position('submit/full')
depth = position('queue_depth')
blocked = position('blocked_return')
spin_ns = 10e3
swept = full ? 2 : 1
bottom = 1e300
top = 0
do for [i = 1:swept] {
    stats data index i - 1 using (bottom = $2 < bottom ? $2 : bottom, top = $2 > top ? $2 : top, \
        high_end = bar_end(strcol(4), $2), top = high_end > top ? high_end : top, 1) nooutput
}
hue(i) = i == 1 ? '#d98c00' : '#0072b2'
told(i) = i == 1 ? 'submit behind a closed gate: no kernel runs' : 'submit to a full queue whose kernels run for 10 µs each'

set logscale y 10
set xrange [-0.05:1.12]
set yrange [bottom / scale / 2:top / scale * 4]
set xtics ('0' 0, '1/8' 0.125, '1/4' 0.25, '1/2' 0.5, '3/4' 0.75, '0.9' 0.9, '1' 1)
if (top / bottom < 1e3) { eval 'set ytics ('.ticks_log.')' }
set format y '%.10g'
set grid xtics ytics
set xlabel 'part of the queue that is filled' offset 0, 0.4 textcolor rgb ink
set ylabel unit.' a call (logarithmic)' textcolor rgb ink

eval heading('What a launch costs the host while the queue fills')
set lmargin at screen 0.09
set rmargin at screen 0.975
set tmargin at screen 0.80
set bmargin at screen 0.165
set key at screen 0.985, 0.85 right center horizontal Left reverse samplen 2 font ',16' textcolor rgb ink
set arrow from 1, graph 0 to 1, graph 1 nohead dt 3 lw 2 lc rgb '#444444'
depth_told = depth ? sprintf('queue_depth: %.0f launches%s', median[depth], star(depth)) : 'full'
blocked_told = blocked ? \
    sprintf('a blocked call returns %s %s after the gate opens%s', show(median[blocked]), unit, star(blocked)) : ''
set label 51 depth_told at 1, graph 0.96 right offset -1.5, 0 font ',17' textcolor rgb ink
set label 52 blocked_told at 1, graph 0.90 right offset -1.5, 0 font ',17' textcolor rgb ink
if (full) {
    set arrow from graph 0, first spin_ns / scale to graph 1, first spin_ns / scale nohead dt 2 lw 1.5 lc rgb '#888888'
    set label 53 at graph 0.01, first spin_ns / scale offset 0, 0.6 font ',16' textcolor rgb grey 'how long a kernel runs there'
}
set label 50 at screen 0.02, 0.028 font ',15' textcolor rgb grey \
    'Mark: median, hollow where unsteady.  Bar: its 95 % interval.  Dotted: full. There a call waits for the end of a kernel.'
plot for [i = 1:swept] data index i - 1 using 1:($2 / scale):(bar_end(strcol(3), $2) / scale):(bar_end(strcol(4), $2) / scale) \
        with yerrorbars pt 0 lw 2 lc rgb hue(i) notitle, \
    data index 0 using 1:($2 / scale) with lines dt 3 lw 1.5 lc rgb hue(1) notitle, \
    for [i = 1:swept] data index i - 1 using 1:($2 / scale) with points pt 7 ps 2.4 * point_scale lc rgb 'white' notitle, \
    for [i = 1:swept] data index i - 1 using 1:($2 / scale):((i == 1 ? 7 : 5) - $6) \
        with points pt variable ps 1.8 * point_scale lw 2 lc rgb hue(i) notitle, \
    for [i = 1:swept] keyentry with points pt (i == 1 ? 7 : 5) ps 1.8 * point_scale lc rgb hue(i) title told(i)
