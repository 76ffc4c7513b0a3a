# Print the source of a picture with figures of a report of scripts/bench as bars.  In each group,
# the longest bar is the greatest figure.  Bars of this extension are blue.
BEGIN {
	FS = " *[|] *"
	group("generate a v7 UUID, in ns", "ns a call, generated at the time", "floor|^uuidv7(_ordered)?\\(\\)$|v7: |PostgreSQL|TimescaleDB")
	group("generate a v4 UUID, in ns", "ns a call, random", ".")
	group("load a million rows, in seconds of CPU time", "s, loading 1000000 rows", ".")
	group("size of the index per row, in bytes", "bytes of index a row", "identity|^uuidv[47]\\(\\)$")
	group("query one day of a year, in ms", "ms, one day", ".")
	group("plan a query of 365 partitions, in ms", "ms, planning 365 partitions, now()", ".")
}

# Add a group: a title, the measure in the report, and which of its sides to show.
function group(title, measure, sides) {
	groups++
	titles[groups] = title
	measures[groups] = measure
	shown[groups] = sides
}

{
	for (i = 1; i <= groups; i++) {
		if ($2 != measures[i] || $3 !~ shown[i])
			continue
		sides[i, ++count[i]] = $3
		medians[i, count[i]] = $4
		if ($4 > greatest[i])
			greatest[i] = $4
	}
}

# Return a number with two digits, or with all of the digits before its point.
function rounded(number) { return sprintf(number < 1 ? "%.2f" : number < 10 ? "%.1f" : "%.0f", number) }

# Return a pikchr statement that places text at x, in inches, in the current line.
function text(string, attributes, x) { return sprintf("text \"%s\" %s at (%.2fin, %.2fin)\n", string, attributes, x, -y) }

END {
	y = 0.2
	bars = text("blue: uuid9562, gray: others", "ljust", 0)
	y = 0.39
	bars = bars text("shorter is better; each group has its own scale", "ljust", 0)
	y += 0.1
	for (i = 1; i <= groups; i++) {
		if (!count[i]) {
			print "no figures of " measures[i] >"/dev/stderr"
			exit 1
		}
		y += 0.12
		bars = bars text(titles[i], "bold ljust", 0)
		for (n = 1; n <= count[i]; n++) {
			y += 0.19
			bars = bars text(sides[i, n], "rjust", 1.73) \
				sprintf("line thickness 0.13in color %s from (1.77in, %.2fin) right %.3fin\n",
					sides[i, n] ~ /^(uuidv|id <@)/ ? "blue" : "gray", -y, 0.79 * medians[i, n] / greatest[i]) \
				sprintf("text \"%s\" ljust at last line.end + (0.05in, 0)\n", rounded(medians[i, n]))
		}
		y += 0.19
	}
	printf "page(%.2fin)\n%s", y, bars
}
