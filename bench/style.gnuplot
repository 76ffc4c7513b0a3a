# What the charts share.  The folder of the data is gnuplot's; out is where the
# chart goes.
set terminal svg size 900,480 dynamic background rgb 'white' font 'sans-serif,13'
set datafile separator tab
set datafile missing '\N'
set border 3 linecolor rgb '#666666'
set xtics nomirror
set ytics nomirror
set grid ytics linecolor rgb '#dddddd'
set style fill solid 0.85 noborder
set linetype 1 linecolor rgb '#1f6feb' linewidth 2 pointtype 7
set linetype 2 linecolor rgb '#d29922' linewidth 2 pointtype 5
set linetype 3 linecolor rgb '#1a7f37' linewidth 2 pointtype 9
set linetype 4 linecolor rgb '#cf222e' linewidth 2 pointtype 11
set linetype 5 linecolor rgb '#8250df' linewidth 2 pointtype 13
