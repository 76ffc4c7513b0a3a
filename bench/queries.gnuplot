load style
set output out.'/queries.svg'
set title 'One day of a year, count(*), milliseconds (both logarithmic)'
set logscale xy
set format x '10^{%L}'
set xlabel 'rows of the table'
set key outside right
stats 'queries.dat' using 1 nooutput
plot for [i=0:STATS_blocks-1] 'queries.dat' index i using 1:2 with linespoints linetype i+1 title columnheader(1) noenhanced
