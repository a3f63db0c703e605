# SPDX-License-Identifier: Apache-2.0
# What threads that launch at the same time reach together, and what a call of each costs, over their number.
# Row: submit/stream_each contention stream_each submit block_threads=32;blocks=1 threads
# Row: submit/one_stream? contention one_stream submit block_threads=32;blocks=1 threads
# Row: submit/context_each? contention context_each submit block_threads=32;blocks=1 threads
# Row: period/stream_each contention stream_each period block_threads=32;blocks=1 threads
# Row: period/one_stream? contention one_stream period block_threads=32;blocks=1 threads
# Row: period/context_each? contention context_each period block_threads=32;blocks=1 threads

hue(i) = way(i) eq 'stream_each' ? '#0072b2' : way(i) eq 'one_stream' ? '#d98c00' : '#009e73'
shape(i) = way(i) eq 'stream_each' ? 7 : way(i) eq 'one_stream' ? 5 : 9
told(i) = way(i) eq 'stream_each' ? 'a stream each' : way(i) eq 'one_stream' ? 'one stream' : 'a context each'
beside(threads, i) = threads * (way(i) eq 'stream_each' ? 1. : way(i) eq 'one_stream' ? 0.96 : 1.04)

# Of all threads together: a million launches a second is one a thousand ns.
rate(ns) = 1e3 / ns
last = 1
fastest = 0
dearest = 0
do for [i = 1:count] {
    stats data index i - 1 using (last = $1 > last ? $1 : last, 1) nooutput
    if (metric(i) eq 'period') {
        stats data index i - 1 using (fastest = rate($2) > fastest ? rate($2) : fastest, 1) nooutput
    } else {
        stats data index i - 1 using (dearest = $2 > dearest ? $2 : dearest, 1) nooutput
    }
}

set logscale x 2
set xrange [0.85:last * 1.18]
set format x '%.0f'
set format y '%.10g'
set grid xtics ytics
set xlabel 'threads that launch' offset 0, 0.4 textcolor rgb ink
set tmargin at screen 0.80
set bmargin at screen 0.165

eval heading('Threads that launch at the same time')
set label 50 at screen 0.02, 0.028 font ',15' textcolor rgb grey \
    'Mark: median, hollow where unsteady.  Bar: its 95 % interval.  Dashed: the rate of one thread, times the threads.'
set multiplot
set lmargin at screen 0.09
set rmargin at screen 0.48
set key at screen 0.985, 0.84 right center horizontal Left reverse samplen 2 font ',16' textcolor rgb ink
one = position('period/stream_each')
alone = median[one]
set yrange [0:fastest * 1.25]
set ylabel 'million launches a second, all threads together' textcolor rgb ink
clip(ns) = rate(ns) > fastest * 1.25 ? fastest * 1.25 : rate(ns)
plot x * rate(alone) with lines dt 2 lw 2 lc rgb '#888888' notitle, \
    for [i = 1:count] data index i - 1 using (metric(i) eq 'period' ? beside($1, i) : NaN):(rate($2)): \
        (clip(bar_end(strcol(4), $2))):(clip(bar_end(strcol(3), $2))) with yerrorbars pt 0 lw 2 lc rgb hue(i) notitle, \
    for [i = 1:count] data index i - 1 using (metric(i) eq 'period' ? beside($1, i) : NaN):(rate($2)) \
        with lines dt 3 lw 1.5 lc rgb hue(i) notitle, \
    for [i = 1:count] data index i - 1 using (metric(i) eq 'period' ? beside($1, i) : NaN):(rate($2)) \
        with points pt 7 ps 2.2 * point_scale lc rgb 'white' notitle, \
    for [i = 1:count] data index i - 1 using (metric(i) eq 'period' ? beside($1, i) : NaN):(rate($2)):(shape(i) - $6) \
        with points pt variable ps 1.8 * point_scale lw 2 lc rgb hue(i) notitle, \
    for [i = 1:count] keyentry with points pt shape(i) ps 1.8 * point_scale lc rgb hue(i) \
        title metric(i) eq 'period' ? told(i) : ''
unset label
unset key
set lmargin at screen 0.585
set rmargin at screen 0.975
set yrange [0:dearest / scale * 1.25]
set ylabel unit.' a call, of each thread' textcolor rgb ink
top = dearest * 1.25
inside(ns) = ns > top ? top / scale : ns / scale
plot for [i = 1:count] data index i - 1 using (metric(i) eq 'submit' ? beside($1, i) : NaN):($2 / scale): \
        (inside(bar_end(strcol(3), $2))):(inside(bar_end(strcol(4), $2))) with yerrorbars pt 0 lw 2 lc rgb hue(i) notitle, \
    for [i = 1:count] data index i - 1 using (metric(i) eq 'submit' ? beside($1, i) : NaN):($2 / scale) \
        with lines dt 3 lw 1.5 lc rgb hue(i) notitle, \
    for [i = 1:count] data index i - 1 using (metric(i) eq 'submit' ? beside($1, i) : NaN):($2 / scale) \
        with points pt 7 ps 2.2 * point_scale lc rgb 'white' notitle, \
    for [i = 1:count] data index i - 1 using (metric(i) eq 'submit' ? beside($1, i) : NaN):($2 / scale):(shape(i) - $6) \
        with points pt variable ps 1.8 * point_scale lw 2 lc rgb hue(i) notitle
unset multiplot
