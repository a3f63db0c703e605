# SPDX-License-Identifier: Apache-2.0
# Cycles of a load that depends on the one before, over the working set: in the launch that touched it, in the next one,
# and in the next one behind a sweep of the cache that all share.
# Row: reload/second cache_loss second_pass reload block_threads=1024;blocks=multiprocessors;line_bytes=128;memory=global working_set_bytes
# Row: reload/next cache_loss next_launch reload block_threads=1024;blocks=multiprocessors;line_bytes=128;memory=global working_set_bytes
# Row: reload/swept? cache_loss after_sweep reload block_threads=1024;blocks=multiprocessors;line_bytes=128;memory=global working_set_bytes
# Row: reload/constant_second? cache_loss second_pass reload block_threads=1024;blocks=multiprocessors;line_bytes=64;memory=constant working_set_bytes
# Row: reload/constant_next? cache_loss next_launch reload block_threads=1024;blocks=multiprocessors;line_bytes=64;memory=constant working_set_bytes

is_constant(i) = strstrt(way(i), 'constant') == 1
is_next(i) = strstrt(way(i), 'next') > 0
named(i) = way(i) eq 'swept' ? 'next, swept' : (is_constant(i) ? 'constant: ' : '').(is_next(i) ? 'next launch' : 'same launch')
dashes(i) = is_constant(i) ? 2 : 1
hue(i) = way(i) eq 'swept' ? '#b03060' : is_next(i) ? '#d98c00' : '#0072b2'
shape(i) = is_constant(i) ? 9 : way(i) eq 'swept' ? 5 : 7

set logscale x 2
set logscale y
set xrange [800:2e8]
set xtics ('2 KiB' 2048, '16' 16384, '128' 131072, '1 MiB' 1048576, '8' 8388608, '64 MiB' 67108864)
eval 'set ytics ('.ticks_log.')'
set grid xtics ytics
set xlabel 'working set (logarithmic)' offset 0, 0.4 textcolor rgb ink
set ylabel 'cycles a load (logarithmic)' textcolor rgb ink

eval heading('A load of what was touched before: in the same launch and in the next one')
set lmargin at screen 0.09
set rmargin at screen 0.975
set tmargin at screen 0.79
set bmargin at screen 0.165
set key at screen 0.985, 0.84 right center horizontal Left reverse samplen 2 font ',16' textcolor rgb ink
set label 50 at screen 0.02, 0.028 font ',15' textcolor rgb grey \
    'Mark: median, hollow where unsteady.  Bar: its 95 % interval.  Each load needs the one before.'
plot for [i = 1:count] data index i - 1 using 1:2:(bar_end(strcol(3), $2)):(bar_end(strcol(4), $2)) \
        with yerrorbars pt 0 lw 2 lc rgb hue(i) notitle, \
    for [i = 1:count] data index i - 1 using 1:2 with lines lw 2 dt dashes(i) lc rgb hue(i) notitle, \
    for [i = 1:count] data index i - 1 using 1:2:(shape(i) - $6) \
        with points pt variable ps 1.6 * point_scale lw 2 lc rgb hue(i) notitle, \
    for [i = 1:count] keyentry with points pt shape(i) ps 1.6 * point_scale lc rgb hue(i) title named(i)
