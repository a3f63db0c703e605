# SPDX-License-Identifier: Apache-2.0
# How many blocks a multiprocessor holds at once over what each takes of it, and how long a fixed number of them takes.
# Row: occupancy/registers resources registers occupancy block_threads=128;blocks_per_multiprocessor=32;kernel=hold;spin_ns=10000 registers_per_thread
# Row: duration/registers resources registers duration block_threads=128;blocks_per_multiprocessor=32;kernel=hold;spin_ns=10000 registers_per_thread
# Row: occupancy_ratio/registers? resources registers occupancy_ratio block_threads=128;blocks_per_multiprocessor=32;kernel=hold;spin_ns=10000 registers_per_thread
# Row: occupancy/dynamic resources dynamic occupancy block_threads=128;blocks_per_multiprocessor=32;kernel=hold;spin_ns=10000 shared_bytes
# Row: duration/dynamic resources dynamic duration block_threads=128;blocks_per_multiprocessor=32;kernel=hold;spin_ns=10000 shared_bytes
# Row: occupancy_ratio/dynamic? resources dynamic occupancy_ratio block_threads=128;blocks_per_multiprocessor=32;kernel=hold;spin_ns=10000 shared_bytes
# Row: occupancy/static? resources static occupancy block_threads=128;blocks_per_multiprocessor=32;kernel=hold;spin_ns=10000 shared_bytes
# Row: duration/static? resources static duration block_threads=128;blocks_per_multiprocessor=32;kernel=hold;spin_ns=10000 shared_bytes

# What the vendor says is what was measured over the ratio to it: block 0 over registers, 1 over shared memory.
array at[64]
array told[64]
set print $vendor
do for [kind in 'registers dynamic'] {
    print 'NaN NaN'
    if (position('occupancy_ratio/'.kind)) {
        stats data index position('occupancy/'.kind) - 1 using \
            (at[int($0) + 1] = $1, told[int($0) + 1] = $2, 1) nooutput
        points = STATS_records
        stats data index position('occupancy_ratio/'.kind) - 1 using \
            (told[int($0) + 1] = told[int($0) + 1] / $2, 1) nooutput
        do for [k = 1:(STATS_records == points ? points : 0)] { print at[k], told[k] }
    }
    print ''
    print ''
}
unset print

held = 1
longest = 1
do for [i = 1:count] {
    if (metric(i) eq 'occupancy') { stats data index i - 1 using (held = $2 > held ? $2 : held, 1) nooutput }
    if (metric(i) eq 'duration') { stats data index i - 1 using (longest = $2 > longest ? $2 : longest, 1) nooutput }
}
# The rows of a metric over registers or over shared memory.
rows_of(name, shared) = sum_rows('', name, shared, 1)
sum_rows(list, name, shared, i) = i > count ? list : sum_rows(list.(metric(i) eq name && \
    (way(i) ne 'registers') == shared ? sprintf(' %d', i) : ''), name, shared, i + 1)
hue(i) = way(i) eq 'static' ? '#d98c00' : '#0072b2'
shape(i) = way(i) eq 'static' ? 5 : 7
size(i) = (way(i) eq 'static' ? 0.9 : 1.7) * point_scale # within the other's mark

eval heading('What registers and shared memory leave room for')
set label 50 at screen 0.02, 0.028 font ',15' textcolor rgb grey \
    '32 blocks of 128 threads a multiprocessor, 10 µs each.  Mark: median, hollow where unsteady.  Dashed: the '. \
    'vendor''s call at the marks.'
set grid ytics xtics
set multiplot
do for [shared = 0:1] {
    set lmargin at screen (shared ? 0.575 : 0.075)
    set rmargin at screen (shared ? 0.98 : 0.48)
    x_scale = shared ? 1024. : 1.
    set xrange [0:(shared ? 168 : 264)]
    set xtics 32
    set tmargin at screen 0.86
    set bmargin at screen 0.555
    set yrange [0:1.15 * held]
    set ytics 4
    set format x ''
    unset xlabel
    set ylabel 'blocks at once' textcolor rgb ink
    set key at graph 0.98, 0.88 right center Left reverse samplen 2 font ',16' textcolor rgb ink
    plot $vendor index shared using ($1 / x_scale):2 with fsteps dt 2 lw 2 lc rgb '#888888' \
            title 'the vendor''s call', \
        for [i in rows_of('occupancy', shared)] data index (i - 1) using ($1 / x_scale):2:(shape(i + 0) - $6) \
            with points pt variable ps size(i + 0) lw 2 lc rgb hue(i + 0) notitle, \
        for [i in rows_of('occupancy', shared)] keyentry with points pt (shape(i + 0)) \
            ps size(i + 0) lc rgb hue(i + 0) title 'measured, '.way(i + 0)
    unset label # told once
    set tmargin at screen 0.51
    set bmargin at screen 0.165
    set yrange [0:1.15 * longest / scale]
    set ytics autofreq
    set format x '%g'
    set xlabel (shared ? 'shared memory a block, KiB' : 'registers a thread') offset 0, 0.4 textcolor rgb ink
    set ylabel 'duration, '.unit textcolor rgb ink
    plot for [i in rows_of('duration', shared)] data index (i - 1) \
        using ($1 / x_scale):($2 / scale):(shape(i + 0) - $6) with points pt variable ps size(i + 0) lw 2 lc rgb hue(i + 0) notitle
}
unset multiplot
