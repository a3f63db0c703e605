# SPDX-License-Identifier: Apache-2.0
# What all figures share: the look, a colour and a mark for each metric, and the rows of the data as arrays.
# scripts/plot sets data, samples_data, point_scale, rows, backend, device, cpu, date and caveat before.
set encoding utf8
ink = '#333333'
grey = '#666666'
set border 3 lc rgb '#888888'
set grid lc rgb '#e4e4e4' lt 1 lw 1, lc rgb '#e4e4e4' lt 1 lw 1
set tics nomirror out scale 0.6 textcolor rgb ink
unset key

# GPUs are told in µs, the host's own threads in ns.
scale = backend eq 'host' ? 1. : 1e3
unit = backend eq 'host' ? 'ns' : 'µs'
show(ns) = sprintf(ns == 0 || abs(ns / scale) >= 100 ? '%.0f' : abs(ns / scale) >= 10 ? '%.1f' : '%.2f', ns / scale)

# A row's name is METRIC or METRIC/WAY. Colours are those of Okabe and Ito, somewhat darker, which all eyes tell apart.
# Marks are filled, and one less is hollow; another way of a metric is dashed and has another mark.
count = words(rows)
slash(i) = strstrt(word(rows, i), '/')
metric(i) = slash(i) ? substr(word(rows, i), 1, slash(i) - 1) : word(rows, i)
way(i) = slash(i) ? substr(word(rows, i), slash(i) + 1, -1) : ''
color_of(metric) = metric eq 'submit_single' ? '#d98c00' : metric eq 'submit_to_start' ? '#2f9ed8' : \
    metric eq 'launch_latency' ? '#0072b2' : metric eq 'completion_latency' ? '#009e73' : \
    metric eq 'round_trip' ? '#222222' : metric eq 'flag_latency' ? '#c0609a' : \
    metric eq 'dispatch_latency' ? '#d55e00' : metric eq 'duration' ? '#a8920c' : '#7f7f7f'
color(i) = color_of(metric(i))
dash(i) = way(i) eq '' ? 1 : way(i) eq 'wait_value' ? 3 : 2
mark(i) = way(i) eq 'gate' ? 5 : way(i) ne '' ? 9 : metric(i) eq 'submit_single' ? 5 : \
    metric(i) eq 'submit_to_start' ? 9 : metric(i) eq 'completion_latency' ? 11 : \
    metric(i) eq 'round_trip' ? 13 : metric(i) eq 'flag_latency' ? 15 : metric(i) eq 'host_reload' ? 11 : 7

# Two lines over the figure, at its left edge; to be evaluated.
subtitle = sprintf('%s   ·   host: %s   ·   %s', device, cpu, date).(caveat eq '' ? '' : '   ·   '.caveat)
heading(title) = sprintf("set label 101 '%s' at screen 0.02, 0.955 font ',26' textcolor rgb '#111111';", title). \
    "set label 102 subtitle at screen 0.02, 0.905 font ',18' textcolor rgb grey"

# 1, 2 and 5 of each power of ten: the ticks of a logarithmic axis, in brackets.
ticks_log = ''
do for [power = -3:9] {
    do for [digit in '1 2 5'] { ticks_log = ticks_log.sprintf('%s%se%d', ticks_log eq '' ? '' : ', ', digit, power) }
}

# Where the bar of a median ends: an empty interval, which is NaN, has none.
bar_end(text, median) = text eq 'NaN' ? median : real(text)

# The first row of each name; of a swept one the figure reads the data itself.
array median[count]
array low[count]
array high[count]
array bound[count]
array unsteady[count]
do for [i = 1:count] {
    stats data index i - 1 every ::::0 using (median[i] = $2, \
        low[i] = bar_end(strcol(3), NaN), high[i] = bar_end(strcol(4), NaN), \
        bound[i] = $5, unsteady[i] = int($6), 1) nooutput
}
star(i) = unsteady[i] ? '*' : ''
interval(i) = low[i] == low[i] ? sprintf('  [%s, %s]', show(low[i]), show(high[i])) : ''
position(name) = sum [k = 1:count] (word(rows, k) eq name ? k : 0)
