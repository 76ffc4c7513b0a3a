# Print each failed test in the output of a suite as "failed: FILE: TEST", and each program
# that failed without a failed test.  Below it, indented, print the first lines that the test
# reported, or the last lines of the program.  The variable "server" is the temporary folder of
# scripts/test, which contains the copy of the checkout and the logs.

BEGIN { most = 12; shown = most }

# Return the name of a test file, relative to the checkout.
function named(path)
{
	if (index(path, server "/uuid9562/") == 1)
		path = substr(path, length(server "/uuid9562/") + 1)
	else if (index(path, server "/") == 1)
		path = "test/" substr(path, length(server "/") + 1)
	sub(/^\.\//, "", path)
	# the programs of test/core and test/schedules have no extension
	return path ~ /^test\/.*\/[^.]+$/ ? path ".c" : path
}

# Print the first differences of a test of pg_regress, without the names of the files.
function print_differences(test,    diffs, line, lines)
{
	diffs = server "/uuid9562/regression.diffs"
	print "failed: sql/" test ".sql"
	lines = most + 3
	while ((getline line < diffs) > 0)
	{
		if (line ~ /^diff /) lines = line ~ ("/" test "\\.out$") ? 0 : most + 3
		if (++lines > 3 && lines <= most + 3) print "    " line
	}
	close(diffs)
}

# Print the last messages of a program, without its notes and the messages of pg_ctl.
# PostgreSQL::Test::Utils writes the messages to a file instead of the terminal.
function print_messages(path,    command, log_file, line, lines, i)
{
	gsub(/.*\/|\.[^.]*$/, "", path)
	command = "find '" server "' -name 'regress_log_" path "'"
	command | getline log_file
	close(command)
	while (log_file != "" && (getline line < log_file) > 0)
		if (line !~ /^(#|\[|waiting for server|server |$)/) message[lines++] = line
	for (i = lines < 6 ? 0 : lines - 6; i < lines; i++) print "    " message[i]
}

# prove prints the path of a program before its tests; a test can print dots too
$1 ~ /^[^#]*\// && $2 ~ /^\.\.+$/ && (NF == 2 || $3 == "skipped:") { file = $1; shown = most; before = 0; next }

# pg_regress prints no name of a program, and "not ok" only since PostgreSQL 16
/^test .*\.\.\. FAILED/ { print_differences($2) }
/^ *not ok [0-9]/ && file == "" { print_differences($5) }

/^ *not ok [0-9]/ && file != "" {
	sub(/^ */, "")
	print "failed: " named(file) ": " $0
	failed[file]
	shown = 0
	next
}
/^$/ && shown < most { next }	# precedes the diagnostics of Test::More
/^ *#/ && !/^# issuing query/ && shown < most { print "    " $0; shown++; next }
{ shown = most }

# keep the last lines of a program, since they can say why it ended
!/^ *#|^ *ok / { last[file, before++ % most] = $0 }
/^Dubious,/ { dubious[file] = before - 1 }

# at the end, prove prints the status of each program that failed
$2 == "(Wstat:" && !($1 in failed) {
	print "failed: " named($1) ": failed without a failed test"
	for (i = dubious[$1] < most ? 0 : dubious[$1] - most; i < dubious[$1]; i++) print "    " last[$1, i % most]
	print_messages($1)
}
