# A chart of horizontal bars, ours in one colour and the others in another.  Takes the
# data that charts.sql made, the file to write, the title, and how many decimals stand
# at a bar.
set datafile separator tab
stats data using 1:3 nooutput
height = 70 + 34 * STATS_records
set terminal svg size 960,height noenhanced background rgb 'white' font 'sans-serif,18'
set output out
set label 1 title at screen 0.02,screen 1 - 28.0 / height left
set border 0
unset key
unset xtics
set ytics nomirror scale 0
set style fill solid noborder
set xrange [0:STATS_max_y * 1.2]
set yrange [STATS_records + 0.6:0.4]
set lmargin 34
set rmargin 1
set tmargin 2.6
set bmargin 0.5
plot data using (0):1:(0):3:($1 - 0.38):($1 + 0.38):($4 == 1 ? 0x1f6feb : 0x8c959f):ytic(2) with boxxyerror linecolor rgb variable, \
	data using 3:1:(sprintf('%.'.decimals.'f', $3)) with labels left offset 0.6,0
