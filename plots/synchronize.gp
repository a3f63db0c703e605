# SPDX-License-Identifier: Apache-2.0
# How soon the host knows of a kernel's end, against the CPU time that waiting takes: a mark for each way of waiting.
# Row: completion_latency/spin_stream synchronize spin completion_latency block_threads=32;blocks=1;kernel=stamp;method=stream kernel_ns
# Row: completion_latency/spin_event? synchronize spin completion_latency block_threads=32;blocks=1;kernel=stamp;method=event kernel_ns
# Row: completion_latency/spin_device? synchronize spin completion_latency block_threads=32;blocks=1;kernel=stamp;method=device kernel_ns
# Row: completion_latency/yield_stream? synchronize yield completion_latency block_threads=32;blocks=1;kernel=stamp;method=stream kernel_ns
# Row: completion_latency/yield_event? synchronize yield completion_latency block_threads=32;blocks=1;kernel=stamp;method=event kernel_ns
# Row: completion_latency/yield_device? synchronize yield completion_latency block_threads=32;blocks=1;kernel=stamp;method=device kernel_ns
# Row: completion_latency/block_stream? synchronize block completion_latency block_threads=32;blocks=1;kernel=stamp;method=stream kernel_ns
# Row: completion_latency/block_event? synchronize block completion_latency block_threads=32;blocks=1;kernel=stamp;method=event kernel_ns
# Row: completion_latency/block_device? synchronize block completion_latency block_threads=32;blocks=1;kernel=stamp;method=device kernel_ns
# Row: completion_latency/spin_stream_query? synchronize spin completion_latency block_threads=32;blocks=1;kernel=stamp;method=stream_query kernel_ns
# Row: completion_latency/spin_event_query? synchronize spin completion_latency block_threads=32;blocks=1;kernel=stamp;method=event_query kernel_ns
# Row: completion_latency/spin_mapped_flag? synchronize spin completion_latency block_threads=32;blocks=1;kernel=stamp_flag;method=mapped_flag kernel_ns
# Row: cpu_time/spin_stream synchronize spin cpu_time block_threads=32;blocks=1;kernel=stamp;method=stream kernel_ns
# Row: cpu_time/spin_event? synchronize spin cpu_time block_threads=32;blocks=1;kernel=stamp;method=event kernel_ns
# Row: cpu_time/spin_device? synchronize spin cpu_time block_threads=32;blocks=1;kernel=stamp;method=device kernel_ns
# Row: cpu_time/yield_stream? synchronize yield cpu_time block_threads=32;blocks=1;kernel=stamp;method=stream kernel_ns
# Row: cpu_time/yield_event? synchronize yield cpu_time block_threads=32;blocks=1;kernel=stamp;method=event kernel_ns
# Row: cpu_time/yield_device? synchronize yield cpu_time block_threads=32;blocks=1;kernel=stamp;method=device kernel_ns
# Row: cpu_time/block_stream? synchronize block cpu_time block_threads=32;blocks=1;kernel=stamp;method=stream kernel_ns
# Row: cpu_time/block_event? synchronize block cpu_time block_threads=32;blocks=1;kernel=stamp;method=event kernel_ns
# Row: cpu_time/block_device? synchronize block cpu_time block_threads=32;blocks=1;kernel=stamp;method=device kernel_ns
# Row: cpu_time/spin_stream_query? synchronize spin cpu_time block_threads=32;blocks=1;kernel=stamp;method=stream_query kernel_ns
# Row: cpu_time/spin_event_query? synchronize spin cpu_time block_threads=32;blocks=1;kernel=stamp;method=event_query kernel_ns
# Row: cpu_time/spin_mapped_flag? synchronize spin cpu_time block_threads=32;blocks=1;kernel=stamp_flag;method=mapped_flag kernel_ns

# Points: kernels of 10 µs and of 1 ms lie in one block, at their axis_value.
array waited[2 * count]
array burnt[2 * count]
array known[2 * count]
array rough[2 * count]
array lasts[2 * count]
marks = 0
do for [i = 1:count] {
    at = position('cpu_time/'.way(i))
    if (metric(i) eq 'completion_latency' && at) {
        do for [length in '10000 1000000'] {
            y = NaN
            x = NaN
            wobbles = 0
            stats data index i - 1 using ($1 == real(length) ? (y = $2, wobbles = int($6)) : 0, 1) nooutput
            stats data index at - 1 using ($1 == real(length) ? (x = $2) : 0, 1) nooutput
            if (x == x && y == y && y > 0) {
                marks = marks + 1
                waited[marks] = way(i)
                burnt[marks] = x
                known[marks] = y / scale
                rough[marks] = wobbles
                lasts[marks] = real(length)
            }
        }
    }
}

# The longest latency first: the list beside the figure follows its height.
array order[marks + 1]
do for [k = 1:marks] { order[k] = k }
do for [k = 1:marks - 1] {
    do for [j = 1:marks - k] {
        if (known[order[j]] < known[order[j + 1]]) {
            moved = order[j]
            order[j] = order[j + 1]
            order[j + 1] = moved
        }
    }
}
parted(name) = strstrt(name, '_')
kind(k) = substr(waited[k], 1, parted(waited[k]) - 1)
method(k) = substr(waited[k], parted(waited[k]) + 1, -1)
hue(k) = lasts[k] < 1e5 ? '#0072b2' : '#d55e00'
shape(k) = kind(k) eq 'spin' ? 7 : kind(k) eq 'yield' ? 9 : 5
told(k) = sprintf('%s, %s%s: %s %s, CPU %.2f%s', kind(k), method(k), lasts[k] < 1e5 ? '' : ', 1 ms', show(known[k] * scale), unit, \
    burnt[k], rough[k] ? '*' : '')
slot(j) = 0.85 - (j - 0.5) * (marks > 9 ? 0.70 / marks : 0.075)

top = known[order[1]]
bottom = known[order[marks]]
set logscale y 10
set yrange [bottom / 1.6:top * 1.6]
set xrange [-0.04:1.12]
set xtics 0, 0.2, 1
if (top / bottom < 1e3) { eval 'set ytics ('.ticks_log.')' }
set format y '%.10g'
set grid xtics ytics
set xlabel 'CPU time of the waiting thread, over the time of the wait' offset 0, 0.4 textcolor rgb ink
set ylabel 'completion latency, '.unit.' (logarithmic)' textcolor rgb ink

eval heading('Ways of waiting for a kernel: latency against CPU time')
set lmargin at screen 0.09
set rmargin at screen 0.62
set tmargin at screen 0.80
set bmargin at screen 0.165
set key at screen 0.62, 0.84 right center horizontal Left reverse samplen 1 font ',16' textcolor rgb ink
do for [j = 1:marks] {
    k = order[j]
    set arrow 100 + j from graph 1, first known[k] to screen 0.665, screen slot(j) nohead lw 1 lc rgb '#bbbbbb'
    set label 200 + j told(k) at screen 0.685, screen slot(j) font ',14' textcolor rgb hue(k) \
        point pt shape(k) - rough[k] ps 1.1 * point_scale lw 2 lc rgb hue(k) offset 0.8, 0.1
}
set label 50 at screen 0.02, 0.028 font ',15' textcolor rgb grey \
    'Mark: medians, hollow (and *) where the latency is unsteady.  Orange, in a ring: kernels of 1 ms; else of 10 µs.  '. \
    'The list follows the height of the marks.'
plot for [k = 1:marks] '+' every ::::0 using (burnt[k]):(known[k]) \
        with points pt shape(k) - rough[k] ps 1.8 * point_scale lw 2 lc rgb hue(k) notitle, \
    for [k = 1:marks] '+' every ::::0 using (lasts[k] < 1e5 ? NaN : burnt[k]):(known[k]) \
        with points pt 6 ps 3.2 * point_scale lw 1.5 lc rgb hue(k) notitle, \
    for [word in 'spin yield block'] keyentry with points pt (word eq 'spin' ? 7 : word eq 'yield' ? 9 : 5) \
        ps 1.6 * point_scale lc rgb ink title word
