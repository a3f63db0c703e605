# SPDX-License-Identifier: Apache-2.0
# How the samples of each part of a launch are distributed, and what is known of their medians.
# Row: submit_single? empty_kernel runtime submit_single block_threads=32;blocks=1;kernel=stamp none
# Row: submit_to_start? empty_kernel runtime submit_to_start block_threads=32;blocks=1;kernel=stamp none
# Row: completion_latency? empty_kernel runtime completion_latency block_threads=32;blocks=1;kernel=stamp none
# Row: launch_latency? empty_kernel runtime launch_latency block_threads=32;blocks=1;kernel=stamp none
# Row: dispatch_latency/gate? empty_kernel gate dispatch_latency block_threads=32;blocks=1;kernel=stamp none
# Row: dispatch_latency/wait_value? empty_kernel wait_value dispatch_latency block_threads=32;blocks=1;kernel=stamp none
# Row: flag_latency? empty_kernel runtime flag_latency block_threads=32;blocks=1 none
# Row: round_trip? empty_kernel runtime round_trip block_threads=32;blocks=1 none
# Samples: of these rows

# The axis holds p0.5 to p99.5 of every row, and the bounds of the medians; logarithmic where that is wide and positive.
left = 1e300
right = -1e300
do for [i = 1:count] {
    stats samples_data index i - 1 using ($2 >= 0.005 && $2 <= 0.995 ? $1 / scale : NaN) nooutput
    left = STATS_min < left ? STATS_min : left
    right = STATS_max > right ? STATS_max : right
    reach = (median[i] - bound[i]) / scale
    left = reach > 0 && reach < left ? reach : left
    reach = (median[i] + bound[i]) / scale
    right = reach > right ? reach : right
}
is_log = left > 0 && right / left > 5
pad = is_log ? (right / left) ** 0.02 : 0.02 * (right - left)
left = is_log ? left / pad : left - pad
right = is_log ? right * pad : right + pad
set xrange [left:right]
if (is_log) {
    set logscale x
    eval 'set xtics ('.ticks_log.')'
}
inside(ns) = ns / scale < left ? left : ns / scale > right ? right : ns / scale
fraction(x) = is_log ? log(x / left) / log(right / left) : (x - left) / (right - left)

eval heading('Launching an empty kernel: how long each part takes')
set multiplot
set lmargin at screen 0.09
set rmargin at screen 0.975
set grid xtics mxtics

set tmargin at screen 0.86
set bmargin at screen 0.45
set yrange [0:1]
set ytics 0.25 format '%.2f'
set ylabel 'part of samples not above' textcolor rgb ink
set xtics format ''
plot for [i = 1:count] samples_data index i - 1 using ($1 / scale):2 \
        with steps lw 2.5 dt dash(i) lc rgb color(i), \
    for [i = 1:count] samples_data index i - 1 using ($1 / scale):2 every 125::60 \
        with points pt mark(i) ps 1.4 * point_scale lc rgb color(i)

# Below, what is known of each median, told beside its mark: to the right, or to the left where there is no room.
unset label
unset ylabel
unset ytics
set tmargin at screen 0.42
set bmargin at screen 0.165
set border 1
set yrange [count + 0.6:0.4]
set xtics format '%g'
set xlabel unit.(is_log ? ' (logarithmic)' : '') offset 0, 0.4 textcolor rgb ink
width(string) = 0.0078 * strlen(string) + 0.02
do for [i = 1:count] {
    told = word(rows, i).star(i).'  '.show(median[i]).interval(i).(bound[i] > 0 ? '  ±'.show(bound[i]) : '')
    from = inside(low[i] < median[i] - bound[i] ? low[i] : median[i] - bound[i])
    to = inside(high[i] > median[i] + bound[i] ? high[i] : median[i] + bound[i])
    hue = color(i)
    # Where neither side has room for all, the median must do: the interval is drawn, too.
    if (fraction(to) + width(told) >= 1 && fraction(from) - width(told) < -0.05) {
        told = word(rows, i).star(i).'  '.show(median[i])
    }
    if (fraction(to) + width(told) < 1) {
        set label i told at to, i left offset 1, 0 font ',17' textcolor rgb hue
    } else {
        set label i told at from, i right offset -1, 0 font ',17' textcolor rgb hue
    }
}
set label 50 at screen 0.02, 0.028 font ',15' textcolor rgb grey \
    'Mark: median, hollow and * where unsteady.  Thick: its 95 % interval.  Thin: bound of the systematic error.'. \
    '  The axis ends about p0.5 and p99.5.'
plot for [i = 1:count] '+' using (inside(median[i] - bound[i])):(i): \
        (inside(median[i] + bound[i]) - inside(median[i] - bound[i])):(0) every ::::0 \
        with vectors nohead lw 1.5 lc rgb color(i), \
    for [i = 1:count] '+' using (inside(low[i])):(i):(inside(high[i]) - inside(low[i])):(0) every ::::0 \
        with vectors nohead lw 7 lc rgb color(i), \
    for [i = 1:count] '+' using (median[i] / scale):(i) every ::::0 \
        with points pt 7 ps 2.2 * point_scale lc rgb 'white', \
    for [i = 1:count] '+' using (median[i] / scale):(i) every ::::0 \
        with points pt mark(i) - unsteady[i] ps 1.8 * point_scale lw 2 lc rgb color(i)
unset multiplot
