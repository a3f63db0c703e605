# SPDX-License-Identifier: Apache-2.0
# How long kernels in many streams take in all, with and without launches on the legacy default stream between them.
# Row: makespan/none default_stream none makespan block_threads=32;blocks=1;spin_ns=20000 streams
# Row: makespan/legacy default_stream legacy makespan block_threads=32;blocks=1;spin_ns=20000 streams

spin_ns = 20e3
hue(i) = i == 1 ? '#0072b2' : '#d55e00'
shape(i) = i == 1 ? 7 : 5
told(i) = i == 1 ? 'nothing between' : 'an empty kernel on the legacy default stream between each two'
top = 0
bottom = spin_ns
last = 1
do for [i = 1:count] {
    stats data index i - 1 using (last = $1 > last ? $1 : last, top = $2 > top ? $2 : top, \
        bottom = $2 < bottom ? $2 : bottom, 1) nooutput
}
set logscale x 2
set logscale y 10
set xrange [0.8:last * 1.3]
set yrange [bottom / scale / 1.6:top / scale * 2]
set xtics (1, 2, 4, 8, 16, 32)
eval 'set ytics ('.ticks_log.')'
set format y '%.10g'
set grid xtics ytics
set xlabel 'kernels, a stream each (logarithmic)' offset 0, 0.4 textcolor rgb ink
set ylabel unit.' from the first begin to the last end (logarithmic)' textcolor rgb ink

eval heading('What the legacy default stream serialises: kernels of 20 µs in blocking streams')
set lmargin at screen 0.1
set rmargin at screen 0.975
set tmargin at screen 0.86
set bmargin at screen 0.165
set key top left opaque Left reverse samplen 3 spacing 1.3 font ',17' textcolor rgb ink
set label 50 at screen 0.02, 0.028 font ',15' textcolor rgb grey \
    'Mark: median, hollow where unsteady.  Bar: its 95 % interval.  Dashed: one kernel alone, and one after another.'
plot spin_ns / scale with lines dt 2 lw 1.5 lc rgb '#888888' notitle, \
    spin_ns * x / scale with lines dt 2 lw 1.5 lc rgb '#888888' notitle, \
    for [i = 1:count] data index i - 1 using 1:($2 / scale):(bar_end(strcol(3), $2) / scale):(bar_end(strcol(4), $2) / scale) \
        with yerrorbars pt 0 lw 2 lc rgb hue(i) notitle, \
    for [i = 1:count] data index i - 1 using 1:($2 / scale) with lines dt 3 lw 1.5 lc rgb hue(i) notitle, \
    for [i = 1:count] data index i - 1 using 1:($2 / scale) \
        with points pt 7 ps 2.2 * point_scale lc rgb 'white' notitle, \
    for [i = 1:count] data index i - 1 using 1:($2 / scale):(shape(i) - $6) \
        with points pt variable ps 1.8 * point_scale lw 2 lc rgb hue(i) notitle, \
    for [i = 1:count] keyentry with points pt shape(i) ps 1.8 * point_scale lc rgb hue(i) title told(i)
