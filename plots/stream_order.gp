# SPDX-License-Identifier: Apache-2.0
# What passes between a kernel that wrote much and the one behind it in the stream, over the bytes, beside gaps of plain grids.
# Row: gap/plain stream_order plain gap block_threads=1024;blocks_per_multiprocessor=1;kernel=write bytes
# Row: gap/fenced? stream_order fenced gap block_threads=1024;blocks_per_multiprocessor=1;kernel=write bytes
# Row: gap/same_kernel? stream_order same_kernel gap block_threads=32;blocks=1;kernel=hold;spin_ns=0 none
# Row: gap/alternating? stream_order alternating gap block_threads=32;blocks=1;kernel=hold;spin_ns=0 none

# The swept rows come first; the others are numbers.
swept = position('gap/fenced') ? 2 : 1
hue(i) = way(i) eq 'plain' ? '#0072b2' : way(i) eq 'fenced' ? '#d98c00' : '#444444'
line(i) = way(i) eq 'alternating' ? 4 : 2
shape(i) = way(i) eq 'plain' ? 7 : 5
told(i) = way(i) eq 'plain' ? 'end read when the stores were issued' : 'end read after a fence of the device''s scope'

top = 0
first = 1e300
last = 1.
do for [i = 1:count] {
    top = median[i] > top ? median[i] : top
    if (i <= swept) {
        stats data index i - 1 using (last = $1 > last ? $1 : last, first = $1 > 0 && $1 < first ? $1 : first, \
            high_end = bar_end(strcol(4), $2), top = $2 > top ? $2 : top, top = high_end > top ? high_end : top, 1) nooutput
    }
}
first = first > last ? last : first
zero = first / 4. # 0 stands apart, to the left of the least
place(bytes) = bytes > 0 ? bytes : zero
beside(bytes, i) = place(bytes) * 1.06 ** (2 * i - 3)
size(bytes) = bytes < 2 ** 20 ? sprintf('%g KiB', bytes / 2. ** 10) : sprintf('%g MiB', bytes / 2. ** 20)
set logscale x 2
set xrange [zero / 2:last * 2]
set yrange [0:top / scale * 1.3]
set xtics ('0' zero)
do for [power = 10:40:2] {
    if (2. ** power >= first && 2. ** power <= last) { set xtics add (size(2. ** power) 2. ** power) }
}
set format y '%.10g'
set grid xtics ytics
set arrow from sqrt(zero * first), graph 0 to sqrt(zero * first), graph 1 back nohead dt 2 lc rgb '#888888'
set xlabel 'bytes that the kernel before wrote (logarithmic, but 0)' offset 0, 0.4 textcolor rgb ink
set ylabel unit textcolor rgb ink

eval heading('The gap after a kernel that wrote so much')
set lmargin at screen 0.09
set rmargin at screen 0.975
set tmargin at screen 0.86
set bmargin at screen 0.165
set key top left opaque Left reverse samplen 2 spacing 1.3 font ',17' textcolor rgb ink
set label 50 at screen 0.02, 0.028 font ',15' textcolor rgb grey \
    'Mark: median, hollow where unsteady.  Bar: its 95 % interval.  Lines: the gap between grids of one block that write '. \
    'only their stamps.'
named(i) = sprintf('%s: %s%s', way(i) eq 'alternating' ? 'two kernels in turn' : 'one kernel', show(median[i]), star(i))
plot for [i = swept + 1:count] median[i] / scale with lines dt line(i) lw 2 lc rgb hue(i) \
        title named(i), \
    for [i = 1:swept] data index i - 1 using (beside($1, i)):($2 / scale):(bar_end(strcol(3), $2) / scale): \
        (bar_end(strcol(4), $2) / scale) with yerrorbars pt 0 lw 2 lc rgb hue(i) notitle, \
    for [i = 1:swept] data index i - 1 using (beside($1, i)):($2 / scale) \
        with points pt 7 ps 2.2 * point_scale lc rgb 'white' notitle, \
    for [i = 1:swept] data index i - 1 using (beside($1, i)):($2 / scale):(shape(i) - $6) \
        with points pt variable ps 1.8 * point_scale lw 2 lc rgb hue(i) notitle, \
    for [i = 1:swept] keyentry with points pt shape(i) ps 1.8 * point_scale lc rgb hue(i) title told(i)
