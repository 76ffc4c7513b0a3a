load style
set output out.'/loading.svg'
set title 'Loading rows, seconds by kind of key: median, least and most'
set yrange [0:*]
set xtics rotate by -35
set boxwidth 0.7
unset key
plot 'loading.dat' using 0:2:xtic(1) with boxes linetype 1, \
	'' using 0:2:3:4 with yerrorbars linecolor rgb '#333333' pointtype 0, \
	'' using 0:2:(sprintf('%.2f', $2)) with labels offset 0,1.5
