# SPDX-License-Identifier: Apache-2.0
# Cycles an instruction of straight code takes over the code's size: run again at once, right behind other code, and when
# the cache that all share had been swept.
# Row: cycles_per_instruction/second instruction_cache after_evictor cycles_per_instruction block_threads=32;blocks=1;pass=1 code_bytes
# Row: cycles_per_instruction/first? instruction_cache after_evictor cycles_per_instruction block_threads=32;blocks=1;pass=0 code_bytes
# Row: cycles_per_instruction/swept? instruction_cache after_sweep cycles_per_instruction block_threads=32;blocks=1;pass=0 code_bytes

named(i) = way(i) eq 'second' ? 'second pass' : way(i) eq 'first' ? 'first pass, behind other code' : \
    'first pass, behind a sweep of the shared cache and other code'
hue(i) = way(i) eq 'second' ? '#0072b2' : way(i) eq 'first' ? '#d98c00' : '#b03060'
top = 0
do for [i = 1:count] { stats data index i - 1 using (top = $2 > top ? $2 : top, 1) nooutput }

set logscale x 2
set xrange [800:700000]
set yrange [0:top * 1.1]
set xtics ('1 KiB' 1024, '4' 4096, '16' 16384, '64' 65536, '256' 262144, '1 MiB' 1048576)
set grid xtics ytics
set xlabel 'code (logarithmic)' offset 0, 0.4 textcolor rgb ink
set ylabel 'cycles an instruction' textcolor rgb ink

eval heading('Straight code: what its fetch costs')
set lmargin at screen 0.09
set rmargin at screen 0.975
set tmargin at screen 0.79
set bmargin at screen 0.165
set key at screen 0.985, 0.84 right center horizontal Left reverse samplen 2 font ',16' textcolor rgb ink
set label 50 at screen 0.02, 0.028 font ',15' textcolor rgb grey \
    'Mark: median, hollow where unsteady.  Bar: its 95 % interval.  Independent multiply-adds, one warp.'
plot for [i = 1:count] data index i - 1 using 1:2:(bar_end(strcol(3), $2)):(bar_end(strcol(4), $2)) \
        with yerrorbars pt 0 lw 2 lc rgb hue(i) notitle, \
    for [i = 1:count] data index i - 1 using 1:2 with lines lw 2 lc rgb hue(i) notitle, \
    for [i = 1:count] data index i - 1 using 1:2:(7 - $6) \
        with points pt variable ps 1.6 * point_scale lw 2 lc rgb hue(i) notitle, \
    for [i = 1:count] keyentry with points pt 7 ps 1.6 * point_scale lc rgb hue(i) title named(i)
