# SPDX-License-Identifier: Apache-2.0
# What the host's call costs over the bytes of arguments, by the way of calling, with the straight line fitted to each.
# Row: submit arguments runtime submit block_threads=32;blocks=1;kernel=arguments argument_bytes
# Row: submit/driver? arguments driver submit block_threads=32;blocks=1;kernel=arguments argument_bytes
# Row: submit/packed? arguments packed submit block_threads=32;blocks=1;kernel=arguments argument_bytes
# Row: submit_per_byte? arguments runtime submit_per_byte argument_bytes=4..4096;block_threads=32;blocks=1;kernel=arguments none
# Row: submit_per_byte/driver? arguments driver submit_per_byte argument_bytes=4..4096;block_threads=32;blocks=1;kernel=arguments none
# Row: submit_per_byte/packed? arguments packed submit_per_byte argument_bytes=4..4096;block_threads=32;blocks=1;kernel=arguments none

fit_end = 4096. # the largest size of the fits; the line is drawn on to the longest list, to be held against it
is_sweep(i) = metric(i) eq 'submit'
called(i) = way(i) eq '' ? 'runtime' : way(i)
fit(i) = position('submit_per_byte'.(way(i) eq '' ? '' : '/'.way(i)))
hue(i) = way(i) eq '' ? '#d98c00' : way(i) eq 'driver' ? '#0072b2' : '#009e73'
shape(i) = way(i) eq '' ? 7 : way(i) eq 'driver' ? 5 : 9

# The fit gives the slope. Its height is that at which the line passes through the sizes of the fit in their mean.
array height[count]
array slope[count]
top = 0
longest = 4.
do for [i = 1:count] {
    if (is_sweep(i)) {
        slope[i] = fit(i) ? median[fit(i)] : NaN
        sum_above = 0
        above = 0
        stats data index i - 1 using (fit(i) && $1 >= 4 && $1 <= fit_end ? \
            (above = above + 1, sum_above = sum_above + $2 - slope[i] * $1) : 0, 1) nooutput
        height[i] = above ? sum_above / above : NaN
        stats data index i - 1 using (longest = $1 > longest ? $1 : longest, \
            top = $2 > top ? $2 : top, high_end = bar_end(strcol(4), $2), top = high_end > top ? high_end : top, 1) nooutput
    }
}
zero = 1. # 0 stands apart, to the left of 4
place(bytes) = bytes > 0 ? bytes : zero
beside(bytes, i) = place(bytes) * 1.05 ** (i - 2)
set logscale x 2
set xrange [zero / 2:longest * 2]
set yrange [0:top / scale * 1.15]
set xtics ('0' zero) font ',16'
do for [power = 2:15] { set xtics add (sprintf('%d', power == 15 ? 32764 : 2 ** power) 2 ** power) }
set format y '%.10g'
set grid xtics ytics
set arrow from 2, graph 0 to 2, graph 1 back nohead dt 2 lc rgb '#888888'
set xlabel 'bytes of arguments, one struct (logarithmic, but 0)' offset 0, 0.4 textcolor rgb ink
set ylabel unit.' a call' textcolor rgb ink

number(ns) = abs(ns) < 0.1 ? sprintf('%.4f', ns) : sprintf('%.3f', ns)
ends(f) = low[f] == low[f] ? sprintf(' [%s, %s]', number(low[f]), number(high[f])) : ''
told(i) = called(i).(fit(i) ? sprintf(': %s', number(median[fit(i)])).ends(fit(i)).' ns a byte' : '')

eval heading('What the arguments of a launch cost the host')
set lmargin at screen 0.09
set rmargin at screen 0.975
set tmargin at screen 0.86
set bmargin at screen 0.165
set key top left opaque Left reverse samplen 3 spacing 1.3 font ',17' textcolor rgb ink
set label 50 at screen 0.02, 0.028 font ',15' textcolor rgb grey \
    'Mark: median, hollow where unsteady.  Bar: its 95 % interval.  Line: fitted to 4 … 4096 bytes, straight on a linear axis.'
set samples 500
plot for [i = 1:count] [x = 4:longest] is_sweep(i) ? (height[i] + slope[i] * x) / scale : NaN \
        with lines lw 2 dt shape(i) == 7 ? 1 : shape(i) == 5 ? 2 : 3 lc rgb hue(i) notitle, \
    for [i = 1:count] data index i - 1 using (is_sweep(i) ? beside($1, i) : NaN):($2 / scale): \
        (bar_end(strcol(3), $2) / scale):(bar_end(strcol(4), $2) / scale) \
        with yerrorbars pt 0 lw 2 lc rgb hue(i) notitle, \
    for [i = 1:count] data index i - 1 using (is_sweep(i) ? beside($1, i) : NaN):($2 / scale) \
        with points pt 7 ps 2.2 * point_scale lc rgb 'white' notitle, \
    for [i = 1:count] data index i - 1 using (is_sweep(i) ? beside($1, i) : NaN):($2 / scale):(shape(i) - $6) \
        with points pt variable ps 1.8 * point_scale lw 2 lc rgb hue(i) notitle, \
    for [i = 1:count] keyentry with linespoints pt shape(i) ps 1.8 * point_scale lw 2 \
        dt shape(i) == 7 ? 1 : shape(i) == 5 ? 2 : 3 lc rgb hue(i) title is_sweep(i) ? told(i) : ''
