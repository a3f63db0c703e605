# SPDX-License-Identifier: Apache-2.0
# What stands between two kernels: nothing, a command in their stream, or a dependency from another stream.
# Row: commands/none stream_fence none gap block_threads=32;blocks=1;order=one_stream none
# Row: commands/event_record? stream_fence event_record gap block_threads=32;blocks=1;order=one_stream none
# Row: commands/event_record_timed? stream_fence event_record_timed gap block_threads=32;blocks=1;order=one_stream none
# Row: commands/event_wait? stream_fence event_wait gap block_threads=32;blocks=1;order=one_stream none
# Row: commands/write_value? stream_fence write_value gap block_threads=32;blocks=1;order=one_stream none
# Row: commands/wait_value? stream_fence wait_value gap block_threads=32;blocks=1;order=one_stream none
# Row: commands/memset_4? stream_fence memset_4 gap block_threads=32;blocks=1;order=one_stream none
# Row: commands/copy_4? stream_fence copy_4 gap block_threads=32;blocks=1;order=one_stream none
# Row: commands/host_function? stream_fence host_function gap block_threads=32;blocks=1;order=one_stream none
# Row: streams/in_order? stream_fence in_order gap block_threads=32;blocks=1;order=ping_pong none
# Row: streams/event? stream_fence event gap block_threads=32;blocks=1;order=ping_pong none
# Row: streams/event_timed? stream_fence event_timed gap block_threads=32;blocks=1;order=ping_pong none
# Row: streams/value? stream_fence value gap block_threads=32;blocks=1;order=ping_pong none

# One mark a row, the first at the top, with room between the two groups.
across(i) = metric(i) eq 'streams'
height(i) = count - i + (across(i) ? 0 : 1.4)
hue(i) = across(i) ? '0xd55e00' : '0x0072b2'
end(i) = high[i] > median[i] ? high[i] : median[i]
place(ns, i) = (ns == ns ? ns : median[i]) / scale
spaced(text) = strstrt(text, '_') ? spaced(text[1:strstrt(text, '_') - 1].' '.text[strstrt(text, '_') + 1:*]) : text
first_across = 0
furthest = 0
nearest = 1e300
set print $marks
do for [i = 1:count] {
    if (across(i) && !first_across) { first_across = i }
    if (end(i) > furthest) { furthest = end(i) }
    if (median[i] < nearest) { nearest = median[i] }
    if (low[i] < nearest && low[i] > 0) { nearest = low[i] }
    print sprintf('%.9g %.9g %.9g %.9g %g %s %d "%s" "%s"', median[i] / scale, place(low[i], i), place(high[i], i), \
        end(i) / scale, height(i), hue(i), (across(i) ? 5 : 7) - unsteady[i], spaced(way(i)), \
        show(median[i]).interval(i))
}
unset print

eval heading('From the end of a kernel to the begin of the next, by what stands between')
set lmargin at screen 0.17
set rmargin at screen 0.975
set tmargin at screen 0.87
set bmargin at screen 0.15
set border 1
set logscale x 10
set xrange [nearest / scale / 1.5:furthest / scale * 6]
set yrange [-0.8:height(1) + 1.5]
eval 'set xtics ('.ticks_log.')'
set format x '%.10g'
set grid xtics
unset ytics
set xlabel unit.' (logarithmic)' offset 0, 0.4 textcolor rgb ink
set style arrow 9 nohead dt 2 lw 1.5 lc rgb '#888888'
top_of_last = first_across ? height(first_across) + 0.5 : 0
set arrow from median[1] / scale, -0.8 to median[1] / scale, top_of_last arrowstyle 9 back
set arrow from median[1] / scale, top_of_last + 1 to median[1] / scale, height(1) + 0.5 arrowstyle 9 back
set label 51 at graph 0, first height(1) + 0.95 left offset -15, 0 font ',17' textcolor rgb hue(1) \
    'a command between two kernels of one stream'
if (first_across) {
    set label 52 at graph 0, first height(first_across) + 0.95 left offset -15, 0 font ',17' \
        textcolor rgb hue(first_across) 'two streams, to and fro: each kernel depends on the one before'
}
set label 50 at screen 0.02, 0.028 font ',15' textcolor rgb grey \
    'Mark: median, hollow where unsteady.  Line: its 95 % interval.  Dashed: no command between.  '. \
    'What is unsupported here has no mark.'
plot $marks using 2:5:($3 - $2):(0):6 with vectors nohead lw 4 lc rgb variable, \
    $marks using 1:5 with points pt 7 ps 2.2 * point_scale lc rgb 'white', \
    $marks using 1:5:7:6 with points pt variable ps 1.8 * point_scale lw 2 lc rgb variable, \
    $marks using 4:5:9 with labels left offset 2, 0 font ',15' textcolor rgb ink, \
    $marks using (nearest / scale / 1.5):5:8 with labels right offset -1.2, 0 font ',16' textcolor rgb ink
