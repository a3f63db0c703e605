# SPDX-License-Identifier: Apache-2.0
# A launch as a timeline of its parts, taken with stamps, over launches measured whole, without.
# Row: submit_single empty_kernel runtime submit_single block_threads=32;blocks=1;kernel=stamp none
# Row: submit_to_start? empty_kernel runtime submit_to_start block_threads=32;blocks=1;kernel=stamp none
# Row: launch_latency empty_kernel runtime launch_latency block_threads=32;blocks=1;kernel=stamp none
# Row: duration? empty_kernel runtime duration block_threads=32;blocks=1;kernel=stamp none
# Row: completion_latency empty_kernel runtime completion_latency block_threads=32;blocks=1;kernel=stamp none
# Row: round_trip empty_kernel runtime round_trip block_threads=32;blocks=1 none
# Row: flag_latency? empty_kernel runtime flag_latency block_threads=32;blocks=1 none
# Row: dispatch_latency/gate? empty_kernel gate dispatch_latency block_threads=32;blocks=1;kernel=stamp none
# Row: dispatch_latency/wait_value? empty_kernel wait_value dispatch_latency block_threads=32;blocks=1;kernel=stamp none
# Row: parts_ratio? empty_kernel runtime parts_ratio block_threads=32;blocks=1 none

submit = position('submit_single')
launch = position('launch_latency')
duration = position('duration')
completion = position('completion_latency')
start = position('submit_to_start')
ratio = position('parts_ratio')

# Where each part ends, from the host's call on. The end of the sum has the errors of its parts.
returned = median[submit]
started = median[launch]
ended = started + (duration ? median[duration] : 0)
known = ended + median[completion]
known_low = ended - started + low[launch] + low[completion]
known_high = ended - started + high[launch] + high[completion]
# The clocks' offset enters launch and completion with either sign: in the sum, only the host's clock is left.
known_bound = bound[submit]

# Under the parts: what was measured whole. dispatch_latency has no call in it and begins where the call returns.
names = ''
do for [name in 'round_trip flag_latency dispatch_latency/gate dispatch_latency/wait_value'] {
    if (position(name)) { names = names.' '.name }
}
singles = words(names)
at(k) = position(word(names, k))
begin(k) = way(at(k)) eq '' ? 0 : returned
about(k) = metric(at(k)) eq 'round_trip' ? 'call to synchronised, no stamps' : \
    metric(at(k)) eq 'flag_latency' ? 'call to a flag of the kernel''s seen' : \
    way(at(k)) eq 'gate' ? 'from behind a kernel, no call' : 'from behind a wait, no call'
top = singles + 1
height(k) = top - k
beyond(a, b) = b > a ? b : a # a where b is NaN
reach(i) = beyond(median[i] + bound[i], high[i])

hue(metric) = '0x'.substr(color_of(metric), 2, 7)
bar(from, to, y, metric) = sprintf('%.9g %.9g %g %s', from / scale, to / scale, y, hue(metric))
triple(a, b, y) = sprintf('%.9g %.9g %g', a / scale, b / scale, y)
said(x, y, told) = sprintf('%.9g %g "%s"', x / scale, y, told)

set print $bars
print bar(0, returned < started ? returned : started, top, 'submit_single')
if (returned < started) { print bar(returned, started, top, 'submit_to_start') }
print bar(started, ended, top, 'duration')
print bar(ended, known, top, 'completion_latency')
do for [k = 1:singles] { print bar(begin(k), begin(k) + median[at(k)], height(k), metric(at(k))) }
set print $intervals
print triple(low[submit], high[submit], top)
print triple(low[launch], high[launch], top - 0.11)
print triple(known_low, known_high, top - 0.22)
do for [k = 1:singles] { print triple(begin(k) + low[at(k)], begin(k) + high[at(k)], height(k)) }
set print $bounds
if (bound[submit] > 0) { print triple(returned, bound[submit], top) }
print triple(started, bound[launch], top - 0.11)
print triple(known, known_bound, top - 0.22)
do for [k = 1:singles] {
    if (bound[at(k)] > 0) { print triple(begin(k) + median[at(k)], bound[at(k)], height(k)) }
}
set print $values
print said(known, top, show(known).(unsteady[launch] || unsteady[completion] ? '*' : '').'  ±'.show(known_bound))
do for [k = 1:singles] {
    print said(k == 1 ? beyond(median[at(k)], known) : begin(k) + median[at(k)], height(k), \
        show(median[at(k)]).star(at(k)).interval(at(k)).(bound[at(k)] > 0 ? '  ±'.show(bound[at(k)]) : ''))
}
set print $names
print said(0, top, 'the parts')
do for [k = 1:singles] { print said(0, height(k), word(names, k)) }
set print $abouts
print said(0, top, 'launches that carry a stamp')
do for [k = 1:singles] { print said(0, height(k), about(k)) }

furthest = beyond(known + known_bound, known_high)
do for [k = 1:singles] { furthest = beyond(furthest, begin(k) + reach(at(k))) }
right = 1.3 * furthest / scale

# Each part is told over its left end, the first the highest, so that no word meets another word or a leader; further to
# the left where it would leave the plot.
levels = duration ? 4 : 3
level_y(level) = top + 0.15 + 0.4 * level
room(told) = right * (1 - 0.009 * strlen(told))
part(x, level, metric, told) = x / scale <= room(told) ? \
    sprintf('%.9g %.9g %g %g %s "%s"', x / scale, x / scale, level_y(level), level_y(level), hue(metric), told) : \
    sprintf('%.9g %.9g %g %g %s "%s"', x / scale, room(told), level_y(level) - 0.16, level_y(level), hue(metric), told)
share(ns) = sprintf('%s %s (%.0f %%) ', show(ns), unit, 100 * ns / known)
starred(name) = name.star(position(name))
set print $parts
print part(0, levels, 'submit_single', share(returned).'the host''s call ('.starred('submit_single').')')
print part(returned < started ? returned : started, levels - 1, 'submit_to_start', share(started - returned). \
    'until the first thread'.star(launch).(start ? ' ('.starred('submit_to_start').': '.show(median[start]).')' : ''))
if (duration) { print part(started, 2, 'duration', share(median[duration]).'the kernel ('.starred('duration').')') }
print part(ended, 1, 'completion_latency', share(median[completion]). \
    'until the host knows ('.starred('completion_latency').')')
unset print

eval heading('Launching an empty kernel: what the time goes to')
set lmargin at screen 0.24
set rmargin at screen 0.97
set tmargin at screen 0.87
set bmargin at screen 0.165
set border 1
set xrange [0:right]
set yrange [0.4:top + 0.55 + 0.4 * levels]
set grid xtics
set xtics format '%g'
unset ytics
set xlabel unit.' from the host''s call' offset 0, 0.4 textcolor rgb ink
set style fill solid 1 noborder
set bars 1.5
set label 50 at screen 0.02, 0.028 font ',15' textcolor rgb grey \
    'Bars: medians, * where unsteady.  Thick: 95 % interval.  Thin: bound of the systematic error.'. \
    (ratio ? sprintf('  Parts over whole, in turn (parts_ratio): %.3f', median[ratio]) : '').\
    (ratio && low[ratio] == low[ratio] ? sprintf(' [%.3f, %.3f]', low[ratio], high[ratio]) : '')
# The ends of the call and of the parts, down through all bars.
set arrow from returned / scale, 0.4 to returned / scale, top + 0.25 \
    nohead front dt 2 lw 2 lc rgb color_of('submit_single')
set arrow from known / scale, height(1) - 0.4 to known / scale, top + 0.25 \
    nohead front dt 2 lw 2 lc rgb color_of('completion_latency')
plot $bars using 1:3:1:2:($3 - 0.2):($3 + 0.25):4 with boxxyerror lc rgb variable, \
    $intervals using 1:($3 - 0.31):($2 - $1):(0) with vectors nohead lw 7 lc rgb ink, \
    $bounds using 1:($3 - 0.31):2 with xerrorbars pt 0 lw 1.5 lc rgb ink, \
    $values using 1:2:3 with labels left offset 1.2, 0 font ',17' textcolor rgb ink, \
    $names using 1:2:3 with labels right offset -1.5, 0.5 font ',18' textcolor rgb ink, \
    $abouts using 1:2:3 with labels right offset -1.5, -0.6 font ',14' textcolor rgb grey, \
    $parts using 1:(top + 0.25):(0):($3 - top - 0.25):5 with vectors nohead lw 1.5 lc rgb variable, \
    $parts using 2:4:6:5 with labels left offset 0.7, -0.2 font ',17' textcolor rgb variable
