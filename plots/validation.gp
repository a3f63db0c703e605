# SPDX-License-Identifier: Apache-2.0
# What a valid launch costs the host, what each refused one, and what each call before a launch.
# Row: submit/valid validation valid submit block_threads=32;blocks=1 none
# Row: submit/valid_driver? validation valid_driver submit block_threads=32;blocks=1 none
# Row: submit/valid_ex? validation valid_ex submit block_threads=32;blocks=1 none
# Row: refused/block_threads? validation block_threads submit cause=over_provision;entry=runtime;kernel=empty none
# Row: refused/block_dimension? validation block_dimension submit cause=over_provision;entry=runtime;kernel=empty none
# Row: refused/grid_dimension? validation grid_dimension submit cause=over_provision;entry=runtime;kernel=empty none
# Row: refused/zero_grid? validation zero_grid submit cause=invalid;entry=runtime;kernel=empty none
# Row: refused/zero_block? validation zero_block submit cause=invalid;entry=runtime;kernel=empty none
# Row: refused/shared_bytes? validation shared_bytes submit cause=over_provision;entry=runtime;kernel=empty none
# Row: refused/shared_most? validation shared_most submit cause=over_provision;entry=runtime;kernel=registers none
# Row: refused/registers? validation registers submit cause=over_provision;entry=runtime;kernel=registers none
# Row: refused/cooperative? validation cooperative submit cause=over_provision;entry=cooperative;kernel=empty none
# Row: refused/cluster? validation cluster submit cause=over_provision;entry=launch_ex;kernel=registers none
# Row: refused/unknown_kernel? validation unknown_kernel submit cause=invalid;entry=runtime;kernel=unknown none
# Row: refused/no_kernel? validation no_kernel submit cause=invalid;entry=runtime;kernel=none none
# Row: call/function_attributes? validation function_attributes call kernel=empty none
# Row: call/occupancy? validation occupancy call block_threads=256;kernel=empty none
# Row: call/pointer_attributes? validation pointer_attributes call pointer=device none
# Row: call/get_device? validation get_device call - none
# Row: call/set_device? validation set_device call device=same none
# Row: call/last_error? validation last_error call error=none none
# Row: call/stream_synchronize? validation stream_synchronize call stream=idle none

# One bar a row, the first at the top, with room between the three groups.
group(i) = metric(i) eq 'submit' ? 0 : metric(i) eq 'refused' ? 1 : 2
height(i) = count - i + 1.1 * (2 - group(i))
hue(i) = word('0x0072b2 0xd55e00 0x7f7f7f', group(i) + 1)
end(i) = high[i] > median[i] ? high[i] : median[i]
number(ns) = sprintf('%.3g', ns / scale) # a query may take a thousandth of a launch
ends(i) = low[i] == low[i] ? sprintf('  [%s, %s]', number(low[i]), number(high[i])) : ''
place(ns, i) = (ns == ns ? ns : median[i]) / scale
line(i) = sprintf('%.9g %.9g %.9g %.9g %g %s "%s" "%s"', median[i] / scale, place(low[i], i), place(high[i], i), \
    end(i) / scale, height(i), hue(i), way(i), number(median[i]).star(i).ends(i))
title(i) = word('valid_launches refused_launches calls_before_a_launch', group(i) + 1)

furthest = 0
set print $bars
do for [i = 1:count] {
    furthest = end(i) > furthest ? end(i) : furthest
    print line(i)
}
set print $groups
do for [i = 1:count] {
    if (i == 1 || group(i) != group(i - 1)) {
        print sprintf('%g %s "%s"', height(i) + 0.95, hue(i), title(i))
    }
}
unset print

eval heading('What a check costs the host: launches that are taken, refused, and calls before one')
set lmargin at screen 0.16
set rmargin at screen 0.975
set tmargin at screen 0.87
set bmargin at screen 0.15
set border 1
set xrange [0:1.3 * furthest / scale]
set yrange [-0.8:height(1) + 1.4]
set grid xtics
set xtics format '%g'
unset ytics
set xlabel unit.' a call' offset 0, 0.4 textcolor rgb ink
set style fill solid 1 noborder
set label 50 at screen 0.02, 0.028 font ',15' textcolor rgb grey \
    'Bar: median, * where unsteady.  Line: its 95 % interval.  What is unsupported here has no bar.'
spaced(text) = strstrt(text, '_') ? spaced(text[1:strstrt(text, '_') - 1].' '.text[strstrt(text, '_') + 1:*]) : text
plot $bars using 1:5:(0):1:($5 - 0.3):($5 + 0.3):6 with boxxyerror lc rgb variable, \
    $bars using 2:5:($3 - $2):(0) with vectors nohead lw 5 lc rgb ink, \
    $bars using 4:5:8 with labels left offset 1, 0 font ',15' textcolor rgb ink, \
    $bars using (0):5:7 with labels right offset -1.2, 0 font ',16' textcolor rgb ink, \
    $groups using (0):1:(spaced(strcol(3))):2 with labels left offset 0.4, 0 font ',16' textcolor rgb variable
