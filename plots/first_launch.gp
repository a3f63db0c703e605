# SPDX-License-Identifier: Apache-2.0
# What a process pays before its first kernel has run, step after step, and what launches cost from then on; by the way
# that code is loaded.
# Row: start_to_first/lazy? first_launch lazy start_to_first - none
# Row: process_start/lazy? first_launch lazy process_start - none
# Row: driver_start/lazy? first_launch lazy driver_start - none
# Row: context_creation/lazy? first_launch lazy context_creation - none
# Row: first_launch/lazy? first_launch lazy first_launch block_threads=32;blocks=1 none
# Row: later_code/lazy? first_launch lazy first_launch block_threads=32;blocks=1 code_bytes
# Row: second_launch/lazy? first_launch lazy second_launch block_threads=32;blocks=1 none
# Row: start_to_first/eager? first_launch eager start_to_first - none
# Row: process_start/eager? first_launch eager process_start - none
# Row: driver_start/eager? first_launch eager driver_start - none
# Row: context_creation/eager? first_launch eager context_creation - none
# Row: first_launch/eager? first_launch eager first_launch block_threads=32;blocks=1 none
# Row: later_code/eager? first_launch eager first_launch block_threads=32;blocks=1 code_bytes
# Row: second_launch/eager? first_launch eager second_launch block_threads=32;blocks=1 none
# Row: start_to_first/default? first_launch default start_to_first - none
# Row: process_start/default? first_launch default process_start - none
# Row: driver_start/default? first_launch default driver_start - none
# Row: context_creation/default? first_launch default context_creation - none
# Row: first_launch/default? first_launch default first_launch block_threads=32;blocks=1 none
# Row: later_code/default? first_launch default first_launch block_threads=32;blocks=1 code_bytes
# Row: second_launch/default? first_launch default second_launch block_threads=32;blocks=1 none

steps = 'process_start driver_start context_creation first_launch start_to_first later_code second_launch'
array about[7] = ['fork, exec, linking', 'the first call of the vendor''s', 'opening the device', \
    'the first kernel, until it has ended', 'the whole until then', 'a later kernel''s first launch', \
    'the first kernel again']
step(i) = sum [k = 1:words(steps)] (word(steps, k) eq metric(i) ? k : 0)
ways = 0
do for [name in 'lazy eager default'] {
    do for [i = 1:count] { if (way(i) eq name) { ways = ways + 1; break } }
}
# The ways lie beside each other, the first above.
beside(i) = ways < 2 ? 0 : way(i) eq 'lazy' ? 0.17 : -0.17
height(i) = words(steps) + 1 - step(i) + beside(i)
hue(i) = way(i) eq 'eager' ? '#d98c00' : '#0072b2'
shape(i) = way(i) eq 'eager' ? 5 : 7
tell(ns) = ns >= 1e6 ? sprintf('%.3g ms', ns / 1e6) : ns >= 1e3 ? sprintf('%.3g µs', ns / 1e3) : sprintf('%.3g ns', ns)

bottom = 1e300
top = 0
do for [i = 1:count] {
    if (median[i] > 0 && median[i] < bottom) { bottom = median[i] }
    if (low[i] == low[i] && low[i] > 0 && low[i] < bottom) { bottom = low[i] }
    if (median[i] > top) { top = median[i] }
    if (high[i] == high[i] && high[i] > top) { top = high[i] }
}
first(i) = low[i] == low[i] ? (low[i] > bottom ? low[i] : bottom) : median[i]
last(i) = high[i] == high[i] ? high[i] : median[i]

set print $points
do for [i = 1:count] {
    print sprintf('%.9g %g %.9g %.9g "%s%s" %d 0x%s', median[i] > 0 ? median[i] : bottom, height(i), first(i), \
        last(i), tell(median[i]), star(i), shape(i) - unsteady[i], substr(hue(i), 2, 7))
}
set print $names
do for [k = 1:words(steps)] {
    print sprintf('%.9g %g "%s" "%s"', bottom / 2, words(steps) + 1. - k, \
        word(steps, k) eq 'later_code' ? 'first_launch, 1 KiB' : word(steps, k), about[k])
}
unset print

set border 1
set logscale x 10
set xrange [bottom / 2:top * 6]
set yrange [0.4:words(steps) + 0.6]
set xtics ('100 ns' 1e2, '1 µs' 1e3, '10 µs' 1e4, '100 µs' 1e5, '1 ms' 1e6, '10 ms' 1e7, \
    '100 ms' 1e8, '1 s' 1e9, '10 s' 1e10)
unset ytics
set grid xtics
set xlabel 'time (logarithmic)' offset 0, 0.4 textcolor rgb ink
set bars 1.2

eval heading('Before the first kernel: what a process pays')
set lmargin at screen 0.25
set rmargin at screen 0.97
set tmargin at screen 0.82
set bmargin at screen 0.165
set key at screen 0.985, 0.85 right center horizontal Left reverse samplen 1 font ',16' textcolor rgb ink
set label 50 at screen 0.02, 0.028 font ',15' textcolor rgb grey \
    'Mark: median over fresh processes.  Bar: its 95 % interval.  '. \
    'Below the line: launches in a process that runs already.'
set arrow 50 from graph 0, first 2.5 to graph 1, first 2.5 nohead dt 2 lw 1.5 lc rgb '#888888'
plot $points using 1:2:3:4:7 with xerrorbars pt 0 lw 2 lc rgb variable notitle, \
    $points using 1:2:6:7 with points pt variable ps 1.9 * point_scale lw 2 lc rgb variable notitle, \
    $points using 4:2:5 with labels left offset 1.2, 0 font ',16' textcolor rgb ink notitle, \
    $names using 1:2:3 with labels right offset -1.5, 0.5 font ',18' textcolor rgb ink notitle, \
    $names using 1:2:4 with labels right offset -1.5, -0.6 font ',14' textcolor rgb grey notitle, \
    for [name in 'lazy eager'] keyentry with points pt (name eq 'eager' ? 5 : 7) ps 1.9 * point_scale \
        lc rgb (name eq 'eager' ? '#d98c00' : '#0072b2') title ways > 1 ? name.' loading' : ''
