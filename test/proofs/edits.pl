# Check that the proofs of this folder find errors: apply each edit below to a copy of src/core, and
# check that the named property fails.  An edit whose text the code does not contain exactly once is
# an error.  Each property must have an edit.
#
#	perl test/proofs/edits.pl [PART OF A NAME]
use strict;
use warnings FATAL => 'all';

use Cwd qw(abs_path);
use File::Basename;
use File::Temp qw(tempdir);
use Test::More;

use lib dirname(__FILE__);
use Proofs;

# By file: a property, and a text in the code and its replacement.
my %edits = (
	clock => [
		[ 'units_are_those_of_the_rfc', 'INT64_C(141427) * 86400' => 'INT64_C(141428) * 86400' ],
		[ 'ticks_of_v6_are_those_since_1582', 'since_epoch > max_sec' => 'since_epoch > max_sec / 2' ],
		[ 'ticks_of_v7_are_those_since_1970', 'nsec * unit->numerator' => '(nsec + 1) * unit->numerator' ],
		[ 'field_of_v8_has_the_low_bits_of_the_time', "\t\t*ticks &= UUID_TIME_MAX;" => "\t\t*ticks &= UUID_TIME_MAX / 2;" ],
		[ 'microseconds_are_converted_to_v6_and_back', "\t\tsec--;" => '' ],
		[ 'microseconds_are_converted_to_v7_and_back', 'rest * UUID_CLOCK_NS_PER_US' => 'rest * UUID_CLOCK_NS_PER_US / 64 * 64' ],
		[ 'microseconds_are_converted_to_the_low_bits_of_v8', 'unix_micros % UUID_CLOCK_US_PER_SEC' => 'unix_micros % (UUID_CLOCK_US_PER_SEC - 1)' ],
		[ 'readings_are_rounded_down_to_microseconds_or_in_v7_to_milliseconds', '(int64_t) (ticks / unit->reading_ticks)' => '(int64_t) ((ticks + 1) / unit->reading_ticks)' ],
		[ 'a_tick_of_v7_is_read_as_the_last_microsecond_before_its_end', '(fraction + 1) * UUID_CLOCK_US_PER_MS - 1' => 'fraction * UUID_CLOCK_US_PER_MS' ],
		[ 'period_of_v6_has_the_values_from_the_smallest_to_the_greatest', 'if (first_reading > last_reading)' => 'if (first_reading >= last_reading)' ],
		[ 'period_of_v7_has_the_values_from_the_smallest_to_the_greatest', ' - 1) / reading_micros + 1;' => ') / reading_micros;' ],
		[ 'shifting_adds_microseconds_rounded_down_to_ticks', '(UUID_TIME_MAX / UUID_CLOCK_V7_PER_MS) - 1)' => '(UUID_TIME_MAX / UUID_CLOCK_V7_PER_MS))' ],
		[ 'shifting_adds_microseconds_rounded_down_to_milliseconds', "\t\tms--;" => '' ],
		[ 'later_times_are_those_after_the_seconds', 'ticks + seconds * uuid_clock_units' => 'ticks - seconds * uuid_clock_units' ],
		[ 'clock_is_behind_by_a_millisecond', 'now / UUID_CLOCK_V7_PER_MS <' => 'now <' ],
	],
	generator => [
		[ 'every_value_is_greater_than_the_previous_one', 'if (now > previous->time)' => 'if (now >= previous->time)' ],
		[ 'the_generator_is_exhausted_only_at_the_end', 'previous->time == UUID_TIME_MAX' => 'previous->time >= UUID_TIME_MAX - 1' ],
		[ 'a_later_clock_sets_the_time', 'define UUID_FRESH_TAIL_MAX	UUID_FIELD_MAX(UUID_TAIL_BITS - 1)' => 'define UUID_FRESH_TAIL_MAX	UUID_FIELD_MAX(UUID_TAIL_BITS)' ],
		[ 'fraction_steps_a_counter_of_four_bits', '+ UUID_COUNTER_STEP)' => '+ 2 * UUID_COUNTER_STEP)' ],
		[ 'counter_steps_sixteen_bits', '(++ordinal &' => '((ordinal += 2) &' ],
		[ 'random_adds_1_to_2_to_the_32', 'UUID_INCREMENT_MASK) + 1' => 'UUID_INCREMENT_MASK) + 2' ],
		[ 'a_generator_continues_from_a_time', 'before.tail = UUID_TAIL_MAX;' => 'before.tail = 0;' ],
		[ 'payloads_are_ordered_by_time_and_tail', 'a.tail < b.tail' => 'a.tail <= b.tail' ],
		[ 'advancing_keeps_the_greater_payload', 'uuid_payload_less(*previous, payload)' => 'uuid_payload_less(payload, *previous)' ],
		[ 'ordinals_of_fractions_increase', 'payload.time << UUID_COUNTER_BITS |' => 'payload.time << UUID_COUNTER_BITS &' ],
	],
	layout => [
		[ 'words_are_in_network_byte_order', 'return __builtin_bswap64(word);' => 'return word;' ],
		[ 'packing_and_unpacking_are_inverse', '(word >> 16 & 0xffff) << 32' => '(word >> 16 & 0xfff) << 32' ],
		[ 'unpacking_and_packing_are_inverse', 'time >> 32 & 0xffff' => 'time >> 32 & 0xfff' ],
		[ 'packing_sets_version_and_variant', 'define UUID_VARIANT_RFC	UINT64_C(2)' => 'define UUID_VARIANT_RFC	UINT64_C(3)' ],
		[ 'unpacking_ignores_version_and_variant', 'uuid_layout_load64(bytes + 8) & UUID_TAIL_MAX' => 'uuid_layout_load64(bytes + 8)' ],
		[ 'variant_and_version_are_those_of_the_rfc', '(bytes[8] & 0x20) == 0' => '(bytes[8] & 0x10) == 0' ],
		[ 'time_is_the_most_significant_field', '(time & ~UUID_SUBTIME_MAX) << 4 | (time & UUID_SUBTIME_MAX)' => '(time & ~UUID_SUBTIME_MAX) << 4 | (time & 0xff)' ],
		[ 'v1_has_the_least_significant_part_of_the_time_first', '(time & 0xffffffff) << 32' => '(time & 0xfffffff) << 32' ],
		[ 'bytes_are_in_the_order_of_time_and_tail', 'if (version == 1)' . "\n\t\treturn (time" => 'if (version <= 2)' . "\n\t\treturn (time" ],
		[ 'clock_sequence_and_node_are_parts_of_the_tail', 'payload.tail >> UUID_NODE_BITS' => 'payload.tail >> (UUID_NODE_BITS + 1)' ],
		[ 'node_of_six_bytes_replaces_only_the_node', 'node.bits << 8 | bytes[i]' => 'node.bits << 7 | bytes[i]' ],
		[ 'node_id_replaces_only_the_node_id', 'define UUID_NODE_ID_SHIFT	42' => 'define UUID_NODE_ID_SHIFT	43' ],
		[ 'random_node_has_the_multicast_bit', 'UINT64_C(1) << 40' => 'UINT64_C(1) << 41' ],
	],
);

my $root = abs_path(dirname(__FILE__) . '/../..');
my $copy = tempdir(CLEANUP => 1);
my $folder = tempdir(CLEANUP => 1);
my $proofs = Proofs->new($copy, $folder);
my $only = shift @ARGV;
my $seconds = 0;

system("mkdir -p $copy/src $copy/test && cp -R '$root/src/core' $copy/src && cp -R '$root/test/proofs' $copy/test") == 0 or die;
foreach my $file ($proofs->files)
{
	my %options = map { $_->[0] => $_->[1] } $proofs->properties($file);
	my %edited;

	foreach my $edit (@{ $edits{$file} // [] })
	{
		my ($name, $from, $to) = @$edit;
		$edited{$name} = 1;
		die "$file.c has no property $name" if !defined $options{$name};
		next if defined $only && index("$file.c $name", $only) < 0;
		my ($path, $content) = Proofs::edit([ glob "$copy/src/core/*.[ch]" ], $from, $to);
		$proofs->compile($file);
		my ($holds, $failures, $time) = $proofs->decide($file, $name, "$options{$name} --stop-on-fail");
		Proofs::content($path, $content);
		# a proof that ends without a verdict has found nothing
		ok(!$holds && $failures !~ /^no verdict/, "$file.c finds an edit: $name" =~ tr/_/ /r) or diag("$from\n$failures");
		$seconds += $time;
	}
	is(join(' ', grep { !$edited{$_} } sort keys %options), '', "$file.c: each property has an edit") if !defined $only;
}
note(sprintf 'all edits: %.0f s', $seconds);
done_testing();
