load style
set output out.'/growth.svg'
set title 'A call of uuidv7(), nanoseconds, mean of half a million: median, least and most'
set logscale x
set format x '10^{%L}'
set xlabel 'after so many calls in the session'
set yrange [0:*]
unset key
plot 'growth.dat' using 1:2:3:4 with yerrorlines linetype 1
