# SPDX-License-Identifier: Apache-2.0
# When each of two processes had the device: their slices, as the device's clock stamped them.
# Row: begin_0 context_switch processes slice_begin process=0;processes=2;state=one_warp none
# Row: end_0 context_switch processes slice_end process=0;processes=2;state=one_warp none
# Row: begin_1 context_switch processes slice_begin process=1;processes=2;state=one_warp none
# Row: end_1 context_switch processes slice_end process=1;processes=2;state=one_warp none
# Row: slice? context_switch processes slice state=one_warp processes
# Row: switch_time? context_switch processes switch_time state=one_warp processes
# Samples: of one process of the run, whose slices follow each other, so that in order of size they are in order of time

to_ms = 1e-6
last = 0
do for [process = 0:1] {
    first_row = position(sprintf('begin_%d', process)) - 1
    last_row = position(sprintf('end_%d', process)) - 1
    stats samples_data index first_row using 1 nooutput
    slices = int(STATS_records)
    array begins[slices]
    array ends[slices]
    stats samples_data index first_row using (begins[$0 + 1] = $1, 1) nooutput
    stats samples_data index last_row using (ends[$0 + 1] = $1, 1) nooutput
    last = ends[slices] > last ? ends[slices] : last
    do for [i = 1:slices] {
        set object rectangle from begins[i] * to_ms, process - 0.3 to ends[i] * to_ms, process + 0.3 \
            fillstyle solid 1 noborder fillcolor rgb (process ? '#d98c00' : '#0072b2')
    }
}

# The first row of either is that of the fewest processes, two.
told(name, what) = position(name) ? \
    sprintf('   ·   median %s: %s %s%s', what, show(median[position(name)]), unit, star(position(name))) : ''
set xrange [0:last * to_ms * 1.02]
set yrange [1.7:-0.7]
set ytics ('process 0' 0, 'process 1' 1)
set grid xtics
set xlabel 'ms since the first clock read of either' offset 0, 0.4 textcolor rgb ink
eval heading('Two processes on one device, in turn')
set lmargin at screen 0.1
set rmargin at screen 0.975
set tmargin at screen 0.86
set bmargin at screen 0.165
set label 50 at screen 0.02, 0.028 font ',15' textcolor rgb grey \
    'Block: one process runs and reads the clock without pause.  White in both: neither runs.'. \
    told('slice', 'slice').told('switch_time', 'switch')
plot NaN notitle
