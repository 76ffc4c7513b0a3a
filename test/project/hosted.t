# The functions, tables and views for the changes of tables in managed/uuid9562.sql are those of the
# extension, apart from the replacements below.
use FindBin;
use lib $FindBin::Bin;
use Project;

my ($extension, $managed) = map { slurp($_) } 'uuid9562--1.0.sql', 'managed/uuid9562.sql';

my $limit = q{uuid 'ffffffff-ffff-8000-8000-000000000000'};
my @replacements = (
	# entries get their IDs when changes_read() publishes them, and then all of them can be read
	[ 'horizon := @extschema@.uuidv7_horizon()', 'horizon := uuid9562.changes_publish(relation)', 'changes_read' ],
	[ '@extschema@.uuidv7_horizon()', $limit, 'changes_notice', 'changes_purge' ],
	[ ' < uuidv7_horizon()', " < $limit", 'changes_readers' ],
	[ "\tPERFORM \@extschema\@.uuidv7_ordered();\t-- a restored database needs a first ID\n", '', 'changes_notice' ],
	[ "\t\tPERFORM \@extschema\@.uuidv7_ordered();\t-- readers need a first ID\n", '', 'changes_track' ],

	# the logs belong to the role that installed the file, since its rights are used to write them
	[ 'relowner::regrole AS log_owner', q{(SELECT relowner FROM pg_class WHERE oid = 'uuid9562.changes_catalog'::regclass)::regrole AS log_owner}, 'changes_track' ],
	[ qr/(\tELSIF NOT )pg_has_role\(tracked.relowner, 'USAGE'\)( THEN\n.*?)'must be owner of table %s', source\);\n/s, sub { "$1pg_has_role(tracked.relowner, 'USAGE')$2'must be owner of table %s', source);\n$1"
			. "(pg_has_role(tracked.log_owner, 'USAGE') AND tracked.log_owner = tracked.relowner)$2'cannot track table %s: role %s must own it and call changes_track()', source, tracked.log_owner);\n" }, 'changes_track' ],

	# no transaction holds published entries
	[ "uuid_generator_stats() AS holder,\n", '', 'changes_readers' ],
	[ q{coalesce('transaction of process ' || holder.held_by_pid::text, 'prepared transaction ' || holder.held_by_prepared)}, q{'changes_read()'}, 'changes_readers' ],
	# all objects are in one schema
	[ 'uuid9562_changes.', 'uuid9562.' ],
	[ '@extschema@', 'uuid9562' ]);

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
	is(definition($managed, $kind, $name =~ s/^uuid9562_changes/uuid9562/r), $expected, "$name is the same without C, apart from the replacements");
	is(join("\n", @unused), '', "all replacements for $name apply");
}
my ($expected, $policies) = map { /^(ALTER TABLE uuid9562\S*.changes_reader ENABLE.*?^CREATE POLICY deleted_by_owner.*?;\n)/ms } $extension, $managed;
is($policies, (replaced($expected, 'changes_reader'))[0], 'the policies of changes_reader are the same');
my %same = map { $_->[1] => 1 } @names;
is(join(' ', sort grep { !$same{$_} } $managed =~ /^CREATE FUNCTION (changes_\w+)/mg),
	'changes_delete changes_is_log changes_is_lost changes_log_rows changes_log_trigger changes_place changes_publish changes_register changes_targets changes_verified',
	'the other functions replace those that the extension has in C');
done_testing();
