# SPDX-License-Identifier: Apache-2.0
# How the latency of a launch is distributed by its priority, beside a grid of low priority that fills the device.
# Row: launch_latency/idle stream_order idle launch_latency block_threads=32;blocks=1;kernel=stamp none
# Row: launch_latency/high? stream_order high launch_latency block_threads=32;blocks=1;filler_spin_ns=20000;kernel=stamp none
# Row: launch_latency/low? stream_order low launch_latency block_threads=32;blocks=1;filler_spin_ns=20000;kernel=stamp none
# Samples: of these rows

hue(i) = way(i) eq 'idle' ? '#444444' : way(i) eq 'high' ? '#0072b2' : '#d55e00'
shape(i) = way(i) eq 'idle' ? 7 : way(i) eq 'high' ? 5 : 9
line(i) = way(i) eq 'idle' ? 1 : way(i) eq 'high' ? 2 : 4
called(i) = way(i) eq 'idle' ? 'idle device' : way(i) eq 'high' ? 'full device, highest priority' : \
    'full device, lowest priority'

# The axis holds p0.5 to p99.5 of every row, but what a clock's error puts before the call.
left = 1e300
right = 0
array marked[count] # a mark each so many samples
do for [i = 1:count] {
    stats samples_data index i - 1 using ($1 > 0 && $2 >= 0.005 && $2 <= 0.995 ? $1 / scale : NaN) nooutput
    marked[i] = STATS_records > 8 ? STATS_records / 8 : 1
    left = STATS_min < left ? STATS_min : left
    right = STATS_max > right ? STATS_max : right
}
set logscale x 10
set xrange [left / 1.2:right * 1.2]
eval 'set xtics ('.ticks_log.')'
set format x '%.10g'
set yrange [0:1]
set ytics 0.25 format '%.2f'
set grid xtics ytics
set xlabel unit.' from the call to the first thread (logarithmic)' offset 0, 0.4 textcolor rgb ink
set ylabel 'part of samples not above' textcolor rgb ink

eval heading('Launching while the device is full: what priority does')
set lmargin at screen 0.09
set rmargin at screen 0.975
set tmargin at screen 0.70
set bmargin at screen 0.165
set key at screen 0.09, 0.79 left center vertical maxrows 3 Left reverse samplen 3 spacing 1.2 font ',17' textcolor rgb ink
told(i) = sprintf('%s: %s%s%s', called(i), show(median[i]), star(i), bound[i] > 0 ? '  ±'.show(bound[i]) : '')
set label 50 at screen 0.02, 0.028 font ',15' textcolor rgb grey \
    'In the key: the median and the bound of its systematic error; * where unsteady.  The axis ends about p0.5 and p99.5.'
plot for [i = 1:count] samples_data index i - 1 using ($1 / scale):2 \
        with steps lw 3 dt line(i) lc rgb hue(i) notitle, \
    for [i = 1:count] samples_data index i - 1 using ($1 / scale):2 every int(marked[i])::int(marked[i] / 2) \
        with points pt shape(i) ps 1.4 * point_scale lc rgb hue(i) notitle, \
    for [i = 1:count] keyentry with linespoints pt shape(i) ps 1.4 * point_scale lw 3 dt line(i) lc rgb hue(i) title told(i)
