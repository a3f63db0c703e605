# SPDX-License-Identifier: Apache-2.0
# What a line of kernels costs over its nodes: made once, launched as a graph, run by the device, beside a stream.
# Row: setup? graph line setup block_threads=32;blocks=1;kernel=stamp nodes
# Row: first_launch? graph line first_launch block_threads=32;blocks=1;kernel=stamp nodes
# Row: submit graph line submit block_threads=32;blocks=1;kernel=stamp nodes
# Row: round_trip graph line round_trip block_threads=32;blocks=1;kernel=stamp nodes
# Row: submit/stream? graph stream submit block_threads=32;blocks=1;kernel=stamp nodes
# Row: round_trip/stream? graph stream round_trip block_threads=32;blocks=1;kernel=stamp nodes

hue(i) = metric(i) eq 'setup' ? '#b03060' : metric(i) eq 'first_launch' ? '#d98c00' : metric(i) eq 'submit' ? '#0072b2' : '#222222'
shape(i) = metric(i) eq 'setup' ? 5 : metric(i) eq 'first_launch' ? 9 : metric(i) eq 'submit' ? 7 : 13
dashes(i) = way(i) eq 'stream' ? 2 : 1
told(i) = metric(i) eq 'setup' ? 'build and instantiate' : metric(i) eq 'first_launch' ? 'first launch call' : \
    (metric(i) eq 'submit' ? 'launch call' : 'until all is done').(way(i) eq 'stream' ? ', one by one' : '')

bottom = 1e300
top = 0
do for [i = 1:count] {
    stats data index i - 1 using (bottom = $2 > 0 && $2 < bottom ? $2 : bottom, top = $2 > top ? $2 : top, 1) nooutput
}
bottom = bottom / scale / 3
top = top / scale * 3
inside(ns) = ns / scale < bottom ? bottom : ns / scale > top ? top : ns / scale
set logscale xy
set xrange [0.7:15000]
set yrange [bottom:top]
set format '%.10g'
set grid xtics ytics
set xlabel 'kernels in the line (logarithmic)' offset 0, 0.4 textcolor rgb ink
set ylabel unit.' for all of them (logarithmic)' textcolor rgb ink

eval heading('A line of kernels as a graph: what it costs once, and each time')
set lmargin at screen 0.11
set rmargin at screen 0.975
set tmargin at screen 0.76
set bmargin at screen 0.165
set key at screen 0.985, 0.83 right center horizontal maxcols 3 Left reverse samplen 2 font ',15' textcolor rgb ink
set label 50 at screen 0.02, 0.028 font ',15' textcolor rgb grey \
    'Mark: median, hollow where unsteady.  Bar: its 95 % interval.  Dashed: the same kernels launched one by one.'
plot for [i = 1:count] data index i - 1 using 1:($2 / scale):(inside(bar_end(strcol(3), $2))):(inside(bar_end(strcol(4), $2))) \
        with yerrorbars pt 0 lw 2 lc rgb hue(i) notitle, \
    for [i = 1:count] data index i - 1 using 1:($2 / scale) with lines lw 2 dt dashes(i) lc rgb hue(i) notitle, \
    for [i = 1:count] data index i - 1 using 1:($2 / scale):(shape(i) - $6) \
        with points pt variable ps 1.6 * point_scale lw 2 lc rgb hue(i) notitle, \
    for [i = 1:count] keyentry with linespoints pt shape(i) dt dashes(i) lw 2 ps 1.6 * point_scale lc rgb hue(i) title told(i)
