# SPDX-License-Identifier: Apache-2.0
# How soon a kernel goes on after the end of the one whose result it needs, and how long before that end it began, by the
# moment at which it was let start. Of kernels that work for 10 µs.
# Row: gap/stream.one dependent_launch stream gap block_threads=32;blocks=1;mechanism=stream;wait=no duration_ns
# Row: gap/stream.full? dependent_launch stream gap block_threads=32;blocks=multiprocessors;mechanism=stream;wait=no duration_ns
# Row: gap/stream.graph? dependent_launch stream gap block_threads=32;blocks=1;mechanism=graph;wait=no duration_ns
# Row: gap/attribute.one dependent_launch attribute gap block_threads=32;blocks=1;mechanism=stream;wait=yes duration_ns
# Row: gap/attribute.full? dependent_launch attribute gap block_threads=32;blocks=multiprocessors;mechanism=stream;wait=yes duration_ns
# Row: gap/attribute.graph? dependent_launch attribute gap block_threads=32;blocks=1;mechanism=graph;wait=yes duration_ns
# Row: gap/trigger_end.one? dependent_launch trigger_end gap block_threads=32;blocks=1;mechanism=stream;wait=yes duration_ns
# Row: gap/trigger_end.full? dependent_launch trigger_end gap block_threads=32;blocks=multiprocessors;mechanism=stream;wait=yes duration_ns
# Row: gap/trigger_end.graph? dependent_launch trigger_end gap block_threads=32;blocks=1;mechanism=graph;wait=yes duration_ns
# Row: gap/trigger_middle.one? dependent_launch trigger_middle gap block_threads=32;blocks=1;mechanism=stream;wait=yes duration_ns
# Row: gap/trigger_middle.full? dependent_launch trigger_middle gap block_threads=32;blocks=multiprocessors;mechanism=stream;wait=yes duration_ns
# Row: gap/trigger_middle.graph? dependent_launch trigger_middle gap block_threads=32;blocks=1;mechanism=graph;wait=yes duration_ns
# Row: gap/trigger_start.one? dependent_launch trigger_start gap block_threads=32;blocks=1;mechanism=stream;wait=yes duration_ns
# Row: gap/trigger_start.full? dependent_launch trigger_start gap block_threads=32;blocks=multiprocessors;mechanism=stream;wait=yes duration_ns
# Row: gap/trigger_start.graph? dependent_launch trigger_start gap block_threads=32;blocks=1;mechanism=graph;wait=yes duration_ns
# Row: overlap/stream.one dependent_launch stream overlap block_threads=32;blocks=1;mechanism=stream;wait=no duration_ns
# Row: overlap/stream.full? dependent_launch stream overlap block_threads=32;blocks=multiprocessors;mechanism=stream;wait=no duration_ns
# Row: overlap/stream.graph? dependent_launch stream overlap block_threads=32;blocks=1;mechanism=graph;wait=no duration_ns
# Row: overlap/attribute.one? dependent_launch attribute overlap block_threads=32;blocks=1;mechanism=stream;wait=yes duration_ns
# Row: overlap/attribute.full? dependent_launch attribute overlap block_threads=32;blocks=multiprocessors;mechanism=stream;wait=yes duration_ns
# Row: overlap/attribute.graph? dependent_launch attribute overlap block_threads=32;blocks=1;mechanism=graph;wait=yes duration_ns
# Row: overlap/attribute.unwaited? dependent_launch attribute overlap block_threads=32;blocks=1;mechanism=stream;wait=no duration_ns
# Row: overlap/trigger_end.one? dependent_launch trigger_end overlap block_threads=32;blocks=1;mechanism=stream;wait=yes duration_ns
# Row: overlap/trigger_end.full? dependent_launch trigger_end overlap block_threads=32;blocks=multiprocessors;mechanism=stream;wait=yes duration_ns
# Row: overlap/trigger_end.graph? dependent_launch trigger_end overlap block_threads=32;blocks=1;mechanism=graph;wait=yes duration_ns
# Row: overlap/trigger_end.unwaited? dependent_launch trigger_end overlap block_threads=32;blocks=1;mechanism=stream;wait=no duration_ns
# Row: overlap/trigger_middle.one? dependent_launch trigger_middle overlap block_threads=32;blocks=1;mechanism=stream;wait=yes duration_ns
# Row: overlap/trigger_middle.full? dependent_launch trigger_middle overlap block_threads=32;blocks=multiprocessors;mechanism=stream;wait=yes duration_ns
# Row: overlap/trigger_middle.graph? dependent_launch trigger_middle overlap block_threads=32;blocks=1;mechanism=graph;wait=yes duration_ns
# Row: overlap/trigger_middle.unwaited? dependent_launch trigger_middle overlap block_threads=32;blocks=1;mechanism=stream;wait=no duration_ns
# Row: overlap/trigger_start.one? dependent_launch trigger_start overlap block_threads=32;blocks=1;mechanism=stream;wait=yes duration_ns
# Row: overlap/trigger_start.full? dependent_launch trigger_start overlap block_threads=32;blocks=multiprocessors;mechanism=stream;wait=yes duration_ns
# Row: overlap/trigger_start.graph? dependent_launch trigger_start overlap block_threads=32;blocks=1;mechanism=graph;wait=yes duration_ns
# Row: overlap/trigger_start.unwaited? dependent_launch trigger_start overlap block_threads=32;blocks=1;mechanism=stream;wait=no duration_ns

# A line for each way and kind of chain, ways from the top; left the gap, right the overlap.
duration_ns = 10000
ways = 'stream attribute trigger_end trigger_middle trigger_start'
kinds = 'one full graph unwaited'
number(text, list) = sum [k = 1:words(list)] (word(list, k) eq text ? k : 0)
dot(i) = strstrt(way(i), '.')
way_number(i) = number(substr(way(i), 1, dot(i) - 1), ways)
kind(i) = number(substr(way(i), dot(i) + 1, -1), kinds)
height(way, kind) = -5. * way - kind
hue(kind) = int(word('0x0072b2 0xd98c00 0x009e73 0xd55e00', kind))
shape(kind) = int(word('7 5 9 13', kind))
told(kind) = kind == 1 ? 'one block, in a stream' : kind == 2 ? 'a block on each multiprocessor' : \
    kind == 3 ? 'one block, in a graph' : 'one block, which does not wait'
way_told(way) = way == 1 ? 'plain launch' : way == 2 ? 'no trigger' : way == 3 ? 'at the end' : \
    way == 4 ? 'in the middle' : 'at the start'

# Both panels: value, low, high, height, colour, mark and text.
array least[2]
array most[2]
least[1] = 0; least[2] = 0; most[1] = 1; most[2] = 1
there = ''
set print $gaps
do for [i = 1:count] {
    panel = metric(i) eq 'gap' ? 1 : 2
    if (panel == 2 && metric(i > 1 ? i - 1 : 1) eq 'gap') { set print $overlaps }
    found = 0
    stats data index i - 1 using ($1 == duration_ns ? (found = 1, value = $2, from = bar_end(strcol(3), $2), \
        to = bar_end(strcol(4), $2), hollow = int($6)) : 0) nooutput
    if (found) {
        least[panel] = from < least[panel] ? from : least[panel]
        most[panel] = to > most[panel] ? to : most[panel]
        if (!strstrt(there, word(kinds, kind(i)))) { there = there.' '.word(kinds, kind(i)) }
        print sprintf('%.9g %.9g %.9g %.9g %d %d "%s"', value / scale, from / scale, to / scale, \
            height(way_number(i), kind(i)), hue(kind(i)), shape(kind(i)) - hollow, show(value))
    }
}
unset print

eval heading('Dependent launch: the gap that is left, and the overlap that is won')
set border 1
unset ytics
set yrange [height(5, 4) - 0.8:height(1, 1) + 1.2]
set format x '%.10g'
set grid xtics
set style arrow 9 nohead lw 1 lc rgb '#cccccc'
do for [w = 1:4] { set arrow from graph 0, first height(w, 4) - 1 to graph 1, first height(w, 4) - 1 arrowstyle 9 back }
set tmargin at screen 0.80
set bmargin at screen 0.165
set key at screen 0.985, 0.845 right center vertical maxrows 2 Left reverse samplen 1 font ',15' textcolor rgb ink
set multiplot
do for [panel = 1:2] {
    wide = (most[panel] - least[panel]) / scale
    set xrange [least[panel] / scale - (least[panel] < 0 ? 0.22 * wide : 0):most[panel] / scale + 0.22 * wide]
    if (panel == 1) {
        set lmargin at screen 0.15
        set rmargin at screen 0.54
        set xlabel 'gap: '.unit.' from the end to past the wait' offset 0, 0.4 textcolor rgb ink
        do for [w = 1:5] {
            set label w at graph 0, first height(w, 2.5) right offset -1.2, 0 font ',17' textcolor rgb ink way_told(w)
        }
        set label 51 at screen 0.02, 0.845 left font ',16' textcolor rgb ink 'let start …'
        set label 50 at screen 0.02, 0.028 font ',15' textcolor rgb grey \
            'Of kernels that work for 10 µs.  Mark: median, hollow where unsteady.  Line: its 95 % interval.  '. \
            'What is unsupported here has no mark.'
        plot $gaps using 2:4:($3 - $2):(0):5 with vectors nohead lw 4 lc rgb variable notitle, \
            $gaps using 1:4 with points pt 7 ps 1.9 * point_scale lc rgb 'white' notitle, \
            $gaps using 1:4:6:5 with points pt variable ps 1.5 * point_scale lw 2 lc rgb variable notitle, \
            $gaps using 3:4:7 with labels left offset 1.2, 0 font ',14' textcolor rgb ink notitle
        do for [k = 1:5] { unset label k }
        unset label 50
        unset label 51
        unset label 101
        unset label 102
    } else {
        set lmargin at screen 0.58
        set rmargin at screen 0.975
        set xlabel 'overlap: '.unit.' that it began before the end' offset 0, 0.4 textcolor rgb ink
        if (least[2] < 0) { set arrow from 0, graph 0 to 0, graph 1 nohead dt 2 lw 1.5 lc rgb '#888888' back }
        plot $overlaps using 2:4:($3 - $2):(0):5 with vectors nohead lw 4 lc rgb variable notitle, \
            $overlaps using 1:4 with points pt 7 ps 1.9 * point_scale lc rgb 'white' notitle, \
            $overlaps using 1:4:6:5 with points pt variable ps 1.5 * point_scale lw 2 lc rgb variable notitle, \
            $overlaps using ($1 < 0 ? NaN : $3):4:7 with labels left offset 1.2, 0 font ',14' textcolor rgb ink notitle, \
            $overlaps using ($1 < 0 ? $2 : NaN):4:7 with labels right offset -1.2, 0 font ',14' textcolor rgb ink notitle, \
            for [k = 1:4] keyentry with points pt shape(k) ps 1.5 * point_scale lc rgb hue(k) \
                title (strstrt(there, word(kinds, k)) ? told(k) : '')
    }
}
unset multiplot
