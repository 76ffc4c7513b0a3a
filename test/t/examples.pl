# Run the examples of the README and the manual.  Each page runs from top to bottom in
# one session, in a database of its own.  The output of a block ```sql must equal the
# output block below it.  If there is no output block, the SQL must raise no error, warning
# or notice.
#
# If PAGES is set, run only the pages whose names match this pattern.
#
# mask() hides parts of the output that differ between runs.  The clock of the server
# starts at START, so that a page can show results that depend on the current day.
#
# Directives in HTML comments directly above a block:
#
#	not run: REASON			do not run the block
#	needs PostgreSQL 18		run the block only on this version and later
#	preload			on PostgreSQL 15 and 16, first preload the library and restart the server
#	needs pg_partman 5.2	run the block only if this version of the extension, or a later one,
#				is installed
#	setup: SQL			run SQL before the block
#	key file: LINES		write lines to uuid9562.key_file, and begin a new session
#	not masked			do not mask UUIDs, since they are the same in each run
#	new session			begin a new session
#	another session			run the block in another session, while this session goes on
#	clock SECONDS			set the server's clock ahead or, with a negative number, back
#	restart				restart the server
#	on the other server		run the block on a second server
#	on both servers			run the block on both servers
use ServerTest;
use Time::Local qw(timegm);
use World;

use constant START => '2026-11-22 09:00:00';

my ($year, $month, $day, $hour) = START =~ /(\d+)-(\d+)-(\d+) (\d+)/;
my $start = timegm(0, 0, $hour, $day, $month - 1, $year);
my $folder = $FindBin::Bin;

# --- blocks of a page ---------------------------------------------------------------

# Return the blocks of a page: {sql, output, line, directives}.
sub blocks
{
	my ($page, $text) = @_;
	my (@blocks, @directives, @unknown);
	my $end = 0;

	while ($text =~ /(?:^<!--\s*(.*?)\s*-->|^```(\w*)\n(.*?)^```)[ \t]*$/msg)
	{
		my ($comment, $language, $body, $from, $to) = ($1, $2, $3, $-[0], $+[0]);
		my $between = substr $text, $end, $from - $end;
		my $joined = $between !~ /\S/;
		my $line = 1 + (substr($text, 0, $from) =~ tr/\n//);

		$end = $to;
		@directives = () unless $joined;
		if (defined $comment)
		{
			push @directives, $comment;
		}
		elsif ($language eq 'sql')
		{
			push @blocks, { sql => $body, line => $line, directives => [@directives] };
			@directives = ();
		}
		elsif ($language eq '')
		{
			if ($joined && @blocks && $blocks[-1]{end} == $from - length $between)
			{
				$blocks[-1]{output} = $body;
			}
			else
			{
				push @unknown, $line;
			}
		}
		$blocks[-1]{end} = $end if @blocks && $language && $language eq 'sql';
	}
	is_deeply(\@unknown, [], "$page: each block is SQL, directly follows its SQL as output, or names its language");
	return @blocks;
}

# --- output that differs between runs -----------------------------------------------

# Return the Unix time of a UUID in seconds.
sub time_of
{
	my ($version, $hex) = @_;
	my ($high, $low) = (hex(substr $hex, 0, 12), hex(substr $hex, 13, 3));

	return (hex(substr($hex, 13, 3) . substr($hex, 8, 4) . substr($hex, 0, 8)) / 1e7 - 12219292800) if $version eq '1';
	return ($high * 4096 + $low) / 1e7 - 12219292800 if $version eq '6';
	return $high / 1000;
}

# Mask a UUID.  Keep only the version of a v4, of a UUID whose time is near START, and of a
# value of uuidv8(), which begins with a digit 2.  Keep the time of a UUID with another time.
# Do not change other versions, or bounds, which end in 12 digits 0 or 12 digits f.
sub mask_uuid
{
	my ($uuid) = @_;
	my $hex = $uuid =~ tr/-//dr;
	my $version = substr $hex, 12, 1;

	return '<v4>' if $version eq '4';
	return $uuid if $version !~ /[1678]/ || $hex =~ /(0{12}|f{12})$/;
	return "<v$version>" if $hex =~ /^2[0-9]/ && $version eq '8' || abs(time_of($version, $hex) - $start) < 3600;
	return substr($uuid, 0, 18) . '<tail>';
}

sub mask
{
	my ($text, $constant) = @_;

	for ($text)
	{
		s/\b(\p{Hex}{8}-\p{Hex}{4}-\p{Hex}{4}-\p{Hex}{4}-\p{Hex}{12})\b/mask_uuid($1)/ge unless $constant;
		# mask times of the hour of START
		s/(\d{4}-\d\d-\d\d) $hour:\d\d:\d\d(\.\d+)?(?=[+ ])/$1 <time>/g;
		# mask figures and estimates of EXPLAIN; remove its header, and lines that
		# only some versions print
		s/^ *QUERY PLAN *\n-+\n(.*?)^\(\d+ rows?\)\n/$1/msg;
		s/cost=\d+\.\d+\.\.\d+\.\d+ rows=\d+ width=\d+/<cost>/g;
		s/actual time=\d+\.\d+\.\.\d+\.\d+ rows=(\d+)(?:\.00)?/actual <time> rows=$1/g;
		s/((?:Planning|Execution) Time:) \d+\.\d+ ms/$1 <time>/g;
		s/^ +(?:Buffers:.*|Index Searches:.*|Planning:)\n//mg;
		# join a condition that a page shows in two lines
		s/^( *\w+ Cond: .*)\n +(?=AND )/$1 /mg;
		# mask the names of InitPlans, which differ between versions
		s/\(InitPlan \w+\)\.col1/\$0/g;
		s/^( *InitPlan) \w+(?: \(returns \$0\))?/$1/mg;
		# mask fractions, whose last digits vary
		s/\b\d+\.\d{4,}\b/<number>/g;
		# remove the position of an error
		s/^LINE \d+:.*\n[ \t]*\^\n//mg;
		# remove differences in the width of columns
		s/-{2,}/--/g;
		s/[ \t]+/ /g;
		s/^ | $//mg;
		s/\n+/\n/g;
		s/^\n//;
	}
	return $text;
}

# --- requirements of a page ---------------------------------------------------------

my $major = qx(pg_config --version) =~ /^PostgreSQL (\d+)/ ? $1 : die;
chomp(my $sharedir = qx(pg_config --sharedir));

# Check whether a version of an extension, or a later one, is installed.
sub has_extension
{
	my ($name, $least) = @_;
	my $control = "$sharedir/extension/$name.control";

	return -f $control unless -f $control && defined $least;
	my ($version) = slurp_file($control) =~ /^default_version\s*=\s*'(\d+\.\d+)/m or die "$control: no default_version";
	return $version >= $least;
}

# Return why a block cannot run, or undef if it can run.
sub why_not
{
	foreach (@{ $_[0]{directives} })
	{
		return $1 if /^not run: (.*)/s;
		return $_ if /^needs PostgreSQL (\d+)$/ ? $major < $1 : /^needs (\S+)(?: (\S+))?$/ && !has_extension($1, $2);
	}
	return;
}

# Return lines of psql that restart a server.  pg_ctl cannot wait for the server, since it
# compares the start time, which is from the changed clock of the server, with the real clock.
sub restart
{
	my ($world, $node) = @_;
	my $is_ready = 'pg_isready -q -h ' . $node->host . ' -p ' . $node->port;

	return "\\! LD_PRELOAD=$world->{library} pg_ctl -W -D " . $node->data_dir . ' -l ' . $node->logfile . " restart >/dev/null; "
	  . "for i in \$(seq 600); do $is_ready && break; sleep 0.1; done\n";
}

sub connect_to
{
	my ($node) = @_;
	return '\connect shop - ' . $node->host . ' ' . $node->port . "\n";
}

# Return lines of psql that write a key file and connect to a server again.
sub write_keys
{
	my ($node, $file, $lines) = @_;
	my $quoted = join ' ', map { "'$_'" } split /\n/, $lines;
	return "\\! (umask 077; printf '%s\\n' $quoted > $file)\n" . connect_to($node);
}

# Return lines of psql that execute SQL in another session and print its output.
sub in_another_session
{
	my ($node, $sql, $file) = @_;

	append_to_file($file, $sql);
	return "\\set printed `psql -X -q -d '" . $node->connstr('shop') . "' -f $file 2>&1 | sed 's/^psql:[^ ]*: //'`\n\\echo :printed\n";
}

# --- page by page -------------------------------------------------------------------

chdir $FindBin::Bin;	# \i finds the files of a page here
my $pages = 0;
foreach my $page (map { s{^\Q$FindBin::Bin\E/}{}r } glob "$FindBin::Bin/README.md $FindBin::Bin/doc/*.md")
{
	next if $ENV{PAGES} && $page !~ /$ENV{PAGES}/;
	my @blocks = blocks($page, slurp_file("$FindBin::Bin/$page")) or next;
	my @run = grep { !why_not($_) } @blocks;
	my %asked = map { $_ => 1 } map { @{ $_->{directives} } } @run;
	my $key_file = PostgreSQL::Test::Utils::tempdir() . '/keys';
	my $conf = "timezone = 'UTC'\nmax_prepared_transactions = 10\n";

	$conf .= "uuid9562.key_file = '$key_file'\n" if grep { /^key file:/ } keys %asked;
	my $world = World->new('here_' . ++$pages, $conf, allows_streaming => 'logical') or plan skip_all => World::REASON;
	my %server = (here => $world->node);
	if ($asked{'on the other server'} || $asked{'on both servers'})
	{
		$server{other} = PostgreSQL::Test::Cluster->new("other_$pages");
		$server{other}->init(allows_streaming => 'logical');
		$server{other}->append_conf('postgresql.conf', $conf);
		$world->start($server{other});
	}
	foreach my $node (values %server)
	{
		$node->safe_psql('postgres', 'CREATE DATABASE shop');
		$node->safe_psql('shop', 'CREATE EXTENSION uuid9562') unless grep { $_->{sql} =~ /^CREATE EXTENSION uuid9562\b/m } @run;
	}
	$world->turn('by ' . ($start - time));

	# one script for the page, with each block between two marks
	my $script = '';
	my $at = 'here';
	foreach my $n (0 .. $#run)
	{
		my @directives = @{ $run[$n]{directives} };
		my %is = map { $_ => 1 } @directives;
		my @on = $is{'on both servers'} ? ('other', 'here') : $is{'on the other server'} ? 'other' : 'here';

		foreach my $on (@on)
		{
			my $sql = $run[$n]{sql};

			$script .= connect_to($server{$on}) if $on ne $at;
			$at = $on;
			foreach (@directives)
			{
				my $is_preload = /^preload$/ && $major < 17;

				$script .= "ALTER SYSTEM SET shared_preload_libraries = uuid9562;\n" if $is_preload;
				$script .= restart($world, $server{$on}) if /^restart$/ || $is_preload;
				$script .= connect_to($server{$on}) if /^(restart|new session)$/ || $is_preload;
				$script .= write_keys($server{$on}, $key_file, $1) if /^key file: (.*)/s;
				$script .= "$1\n" if /^setup: (.*)/s;
				$script .= "\\! printf 'by %d' " . ($start - time + $1) . ' > ' . $world->file_of . "\n" if /^clock (-?\d+)$/;
			}
			$sql = in_another_session($server{$on}, $sql, PostgreSQL::Test::Utils::tempdir() . "/$pages.$n.sql") if $is{'another session'};
			$script .= "\\echo \@\@\@ $n\n$sql\\echo \@\@\@\n";
		}
	}
	my $printed = '';
	IPC::Run::run([ 'psql', '-X', '-q', '-d', $server{here}->connstr('shop') ], '<', \$script, '>', \$printed, '2>&1');
	my %printed;
	push @{ $printed{$1} }, $2 while $printed =~ /^\@\@\@ (\d+)\n(.*?)^\@\@\@\n/msg;

	my $n = 0;
	foreach my $block (@blocks)
	{
		my ($first) = $block->{sql} =~ /^(.*)/;
		my $name = "$page, line $block->{line}: $first";
		my $reason = why_not($block);

	  SKIP:
		{
			skip "$name: $reason", 1 if $reason;
			my $outputs = $printed{ $n++ };
			fail("$name: the session has ended before") or diag($printed) unless $outputs;
			foreach my $output (@$outputs)
			{
				if (defined $block->{output})
				{
					my $constant = grep { $_ eq 'not masked' } @{ $block->{directives} };
					is(mask($output, $constant), mask($block->{output}, $constant), $name) or diag("it prints:\n$output");
				}
				else
				{
					is(join('', $output =~ /^((?:ERROR|FATAL|WARNING|NOTICE):.*\n)/mg), '', $name);
				}
			}
		}
	}
	$server{$_}->stop foreach reverse sort keys %server;
}
done_testing();
