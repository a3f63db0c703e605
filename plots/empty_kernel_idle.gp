# SPDX-License-Identifier: Apache-2.0
# What a launch costs after the host and the device have been silent for a while.
# Row: submit_single empty_kernel runtime submit_single block_threads=32;blocks=1;kernel=stamp idle_ns
# Row: launch_latency empty_kernel runtime launch_latency block_threads=32;blocks=1;kernel=stamp idle_ns
# Row: round_trip empty_kernel runtime round_trip block_threads=32;blocks=1;kernel=stamp idle_ns
# Row: host_reload? empty_kernel runtime host_reload block_threads=32;blocks=1;kernel=stamp idle_ns
# Row: submit_single/busy_device? empty_kernel busy_device submit_single block_threads=32;blocks=1 idle_ns

shortest = 1e300 # but 0
longest = 0
bottom = 1e300
top = 0
highest = 0
lowest = 1e300
do for [i = 1:count] {
    stats data index i - 1 using (shortest = $1 > 0 && $1 < shortest ? $1 : shortest, \
        longest = $1 > longest ? $1 : longest, \
        bottom = $2 > 0 && $2 < bottom ? $2 : bottom, top = $2 > top ? $2 : top, \
        low_end = bar_end(strcol(3), $2), lowest = low_end < lowest ? low_end : lowest, \
        high_end = bar_end(strcol(4), $2), highest = high_end > highest ? high_end : highest, 1) nooutput
}
# An interval may reach zero, which a logarithm cannot, or far up: it leaves the plot.
is_cut = lowest < bottom / 3 || highest > top * 5
bottom = (lowest < bottom / 3 ? bottom / 3 : lowest < bottom ? lowest : bottom) / scale / 1.1
top = (highest > top * 5 ? top * 5 : highest > top ? highest : top) / scale * 1.15

# 0 stands apart, a decade to the left of the shortest silence; points of one silence stand side by side.
place(idle_ns) = (idle_ns > 0 ? idle_ns : shortest / 10)
beside(idle_ns, i) = place(idle_ns) * 1.09 ** (i - (count + 1) / 2.)
silence(ns) = ns < 1e3 ? sprintf('%g ns', ns) : ns < 1e6 ? sprintf('%g µs', ns / 1e3) : \
    ns < 1e9 ? sprintf('%g ms', ns / 1e6) : sprintf('%g s', ns / 1e9)
set logscale xy
set xrange [shortest / 20:longest * 2]
set yrange [bottom:top]
set xtics ('0' place(0))
do for [power = 0:12] { if (10. ** power >= shortest) { set xtics add (silence(10. ** power) 10. ** power) } }
if (top / bottom < 1e3) { eval 'set ytics ('.ticks_log.')' }
set format y '%.10g'
set grid xtics ytics
set arrow from shortest / 10 ** 0.5, graph 0 to shortest / 10 ** 0.5, graph 1 nohead dt 2 lc rgb '#888888'
set xlabel 'silence before the launch (logarithmic, but 0)' offset 0, 0.4 textcolor rgb ink
set ylabel unit.' (logarithmic)' textcolor rgb ink

eval heading('Launching an empty kernel after a silence')
set lmargin at screen 0.11
set rmargin at screen 0.975
set tmargin at screen 0.79
set bmargin at screen 0.165
set key at screen 0.985, 0.84 right center horizontal Left reverse samplen 2 font ',16' textcolor rgb ink
set label 50 at screen 0.02, 0.028 font ',15' textcolor rgb grey \
    'Mark: median, hollow where unsteady.  Line: its 95 % interval'.(is_cut ? ' (some leave the plot).' : '.'). \
    '  Bound of the systematic error in launch_latency: ±'.show(bound[position('launch_latency')]).' '.unit.'.'
down(low) = low / scale < bottom / 10 ? bottom / 10 : low / scale
plot for [i = 1:count] data index i - 1 using (beside($1, i)):($2 / scale) \
        with lines lw 2 dt dash(i) lc rgb color(i) notitle, \
    for [i = 1:count] data index i - 1 using (beside($1, i)):($2 / scale): \
        (down(bar_end(strcol(3), $2))):(bar_end(strcol(4), $2) / scale) \
        with yerrorbars pt 0 lw 2 lc rgb color(i) notitle, \
    for [i = 1:count] data index i - 1 using (beside($1, i)):($2 / scale) \
        with points pt 7 ps 2.2 * point_scale lc rgb 'white' notitle, \
    for [i = 1:count] data index i - 1 using (beside($1, i)):($2 / scale):(mark(i) - $6) \
        with points pt variable ps 1.8 * point_scale lw 2 lc rgb color(i) notitle, \
    for [i = 1:count] keyentry with linespoints pt mark(i) ps 1.8 * point_scale lw 2 \
        dt dash(i) lc rgb color(i) title word(rows, i)
