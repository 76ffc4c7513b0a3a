load style
set output out.'/calls.svg'
set title 'One call, nanoseconds (logarithmic): median, least and most'
set logscale y
set yrange [1:*]
set xtics rotate by -35
set boxwidth 0.7
unset key
plot 'calls.dat' using 0:2:xtic(1) with boxes linetype 1, \
	'' using 0:2:3:4 with yerrorbars linecolor rgb '#333333' pointtype 0, \
	'' using 0:2:(sprintf('%.0f', $2)) with labels offset 0,1
