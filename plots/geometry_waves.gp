# SPDX-License-Identifier: Apache-2.0
# How long a grid takes whose blocks all take the same time: a step for each wave of them.
# Row: wave_duration geometry runtime wave_duration block_threads=1024;kernel=wave;spin_ns=20000 blocks_per_multiprocessor
# Row: block_start_skew? geometry runtime block_start_skew block_threads=1024;kernel=wave;spin_ns=20000 blocks_per_multiprocessor

spin_ns = 20e3
top = 0
last = 0
stats data index 0 using (top = $2 > top ? $2 : top, last = $1 > last ? $1 : last, 1) nooutput
waves = ceil(top / spin_ns - 0.2)
set xrange [0:last + 0.25]
set yrange [0:1.15 * top / scale]
set xtics 0.5 format '%g'
set grid xtics
set xlabel 'blocks over multiprocessors' offset 0, 0.4 textcolor rgb ink
set ylabel unit textcolor rgb ink
do for [w = 1:waves] {
    set arrow from graph 0, first w * spin_ns / scale to graph 1, first w * spin_ns / scale nohead dt 2 lw 1.5 lc rgb '#888888'
    set label w at graph 0.01, first w * spin_ns / scale offset 0, 0.6 font ',16' textcolor rgb grey \
        sprintf(w == 1 ? '%d spin of 20 µs' : '%d spins', w)
}
skew = position('block_start_skew')
skews = ''
if (skew) {
    stats data index skew - 1 using \
        (skews = skews.sprintf('  %s %s at %g;', show($2).($6 > 0 ? '*' : ''), unit, $1), 1) nooutput
}

eval heading('Blocks that take 20 µs each: waves')
set lmargin at screen 0.09
set rmargin at screen 0.975
set tmargin at screen 0.86
set bmargin at screen 0.165
set label 50 at screen 0.02, 0.028 font ',15' textcolor rgb grey \
    'Blocks of 1024 threads.  Mark: median of wave_duration, hollow where unsteady.  Bar: its 95 % interval.'. \
    (skew ? '  block_start_skew:'.skews : '')
plot data index 0 using 1:($2 / scale):(bar_end(strcol(3), $2) / scale):(bar_end(strcol(4), $2) / scale) \
        with yerrorbars pt 0 lw 2 lc rgb '#0072b2' notitle, \
    data index 0 using 1:($2 / scale) with lines dt 3 lw 1.5 lc rgb '#0072b2' notitle, \
    data index 0 using 1:($2 / scale) with points pt 7 ps 2.4 * point_scale lc rgb 'white' notitle, \
    data index 0 using 1:($2 / scale):(7 - $6) with points pt variable ps 1.8 * point_scale lw 2 lc rgb '#0072b2' notitle
