load style
set output out.'/sessions.svg'
set title 'Sessions that insert, thousand rows a second by kind of key'
set logscale x 2
set xlabel 'sessions'
set yrange [0:*]
set key outside right
stats 'sessions.dat' using 1 nooutput
plot for [i=0:STATS_blocks-1] 'sessions.dat' index i using 1:($2/1000) with linespoints linetype i+1 title columnheader(1) noenhanced
