# The functions, tables and views of managed/uuid9562_changes.sql are those of the extension, apart from
# the replacements below.  Functions that the extension has in C have the same arguments and properties.
use FindBin;
use lib $FindBin::Bin;
use Project;

my ($extension, $managed) = map { slurp($_) } 'uuid9562_changes--1.0.sql', 'managed/uuid9562_changes.sql';

my $limit = q{uuid 'ffffffff-ffff-8000-8000-000000000000'};
my @replacements = (
	# entries get their IDs when changes_read() publishes them, and then all of them can be read
	[ 'horizon := uuid9562_changes.horizon()', 'horizon := uuid9562_changes.changes_publish(relation)', 'changes_read' ],
	[ 'uuid9562_changes.horizon()', $limit, 'changes_notice', 'changes_purge', 'changes_readers' ],
	[ "\tPERFORM uuid9562_changes.ordered_id();\t-- a restored database needs a first ID\n", '', 'changes_notice' ],
	[ "\t\tPERFORM uuid9562_changes.ordered_id();\t-- readers need a first ID\n", '', 'changes_track' ],

	# the logs belong to the role that installed the file, since its rights are used to write them
	[ 'relowner::regrole AS log_owner', q{(SELECT relowner FROM pg_class WHERE oid = 'uuid9562_changes.changes_catalog'::regclass)::regrole AS log_owner}, 'changes_track' ],
	[ qr/(\tELSIF NOT )pg_has_role\(tracked.relowner, 'USAGE'\)( THEN\n.*?)'must be owner of table %s', source\);\n/s, sub { "$1pg_has_role(tracked.relowner, 'USAGE')$2'must be owner of table %s', source);\n$1"
			. "(pg_has_role(tracked.log_owner, 'USAGE') AND tracked.log_owner = tracked.relowner)$2'cannot track table %s: role %s must own it and call changes_track()', source, tracked.log_owner);\n" }, 'changes_track' ],

	# no transaction holds published entries
	[ "uuid9562_changes.generator_stats() AS holder,\n", '', 'changes_readers' ],
	[ q{coalesce('transaction of process ' || holder.held_by_pid::text, 'prepared transaction ' || holder.held_by_prepared)}, q{'changes_read()'}, 'changes_readers' ],
	# all objects are in one schema
	[ '@extschema@', 'uuid9562_changes' ]);

# Return the statement that creates an object, with the statements for it up to its comment.
sub definition
{
	my ($script, $kind, $name) = @_;
	my ($text) = $script =~ /^(CREATE $kind $name\b.*?^COMMENT ON $kind $name\b.*?;\n)/ms;

	return $text // '';
}

# Apply the replacements for an object.  Return the text, and the replacements that did not apply.
sub replaced
{
	my ($text, $name) = @_;
	my @unused;

	foreach (@replacements)
	{
		my ($old, $new, @names) = @$_;

		next if @names && !grep { $_ eq $name } @names;
		my $count = ref $old ? $text =~ s/$old/$new->()/ge : $text =~ s/\Q$old\E/$new/g;
		push @unused, $old unless $count || !@names;
	}
	return ($text, @unused);
}

my @names = map { [ split ] } 'TABLE uuid9562_changes.changes_catalog', 'TABLE uuid9562_changes.changes_missing', 'TABLE uuid9562_changes.changes_reader', 'VIEW changes_tables', 'VIEW changes_readers',
  map { "FUNCTION $_" } qw(changes_state changes_key changes_notice changes_track changes_untrack changes_reset changes_read changes_done changes_forget changes_purge changes_waiting);
foreach (@names)
{
	my ($kind, $name) = @$_;
	my ($expected, @unused) = replaced(definition($extension, $kind, $name), $name);

	isnt($expected, '', "$name is in the extension");
	unlike($expected, qr/\\/, "$name does not depend on standard_conforming_strings");
	is(definition($managed, $kind, $name), $expected, "$name is the same without C, apart from the replacements");
	is(join("\n", @unused), '', "all replacements for $name apply");
}
my ($expected, $policies) = map { /^(ALTER TABLE uuid9562\S*.changes_reader ENABLE.*?^CREATE POLICY deleted_by_owner.*?;\n)/ms } $extension, $managed;
is($policies, (replaced($expected, 'changes_reader'))[0], 'the policies of changes_reader are the same');
my %same = map { $_->[1] => 1 } @names;
is(join(' ', sort grep { !$same{$_} } $managed =~ /^CREATE FUNCTION (changes_\w+)/mg),
	'changes_delete changes_is_log changes_is_lost changes_log_rows changes_log_trigger changes_place changes_publish changes_register changes_targets changes_verified',
	'the other functions replace those that the extension has in C');

# Return the head, the properties and the comment of a function.
sub outside
{
	my ($script, $name) = @_;
	my $text = definition($script, 'FUNCTION', $name);

	return join "\n", map { s/\s+/ /gr } $text =~ /\A(.*?)\s(?:AS|LANGUAGE) /s, $text =~ /^LANGUAGE \w+ (\w+ STRICT(?: PARALLEL SAFE)?)/m, $text =~ /^(COMMENT .*)/m;
}
foreach my $name ('uuid9562_changes.id_floor', 'uuid9562_changes.id_timestamp', grep { /^changes/ && !$same{$_} } $extension =~ /^CREATE FUNCTION (changes_\w+)/mg)
{
	like(outside($extension, $name), qr/\ACREATE FUNCTION .*\n\w+ STRICT.*\nCOMMENT/, "$name is in the extension");
	is(outside($managed, $name), outside($extension, $name), "$name has the same arguments, properties and comment without C");
}
done_testing();
