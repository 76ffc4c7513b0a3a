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
		[ 'period_of_v7_has_the_values_from_the_smallest_to_the_greatest', ' - 1) / micros + 1;' => ') / micros;' ],
		[ 'shifting_adds_microseconds_rounded_down_to_ticks', '(UUID_TIME_MAX / UUID_CLOCK_V7_PER_MS) - 1)' => '(UUID_TIME_MAX / UUID_CLOCK_V7_PER_MS))' ],
		[ 'shifting_adds_microseconds_rounded_down_to_milliseconds', "\t\tms--;" => '' ],
		[ 'later_times_are_those_after_the_seconds', 'ticks + seconds * uuid_clock_units' => 'ticks - seconds * uuid_clock_units' ],
		[ 'clock_is_behind_by_a_millisecond', 'now / UUID_CLOCK_V7_PER_MS <' => 'now <' ],
	],
	feistel => [
		[ 'decryption_reverses_encryption_with_every_cipher', 'UUID_FEISTEL_ROUNDS - 1 - round' => 'round' ],
		[ 'encryption_reverses_decryption_with_every_cipher', '(halves[0] & 1) << UUID_FEISTEL_HALF_BITS |' => '' ],
		[ 'each_round_changes_one_half_by_a_block_of_the_other', '(uint64_t) i);' => '(uint64_t) round);' ],
		[ 'failure_of_the_cipher_is_returned', "if (!cipher(key, block))\n\t\t\treturn false;" => "if (!cipher(key, block))\n\t\t\tbreak;" ],
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
	key_lines => [
		[ 'file_ends_with_a_newline_and_has_no_byte_order_mark', '"\xef\xbb\xbf", 3' => '"\xef\xbb\xbf", 2' ],
		[ 'key_has_the_values_of_64_digits', '*bytes++ |= (uint8_t) digit;' => '*bytes++ = (uint8_t) digit;' ],
		[ 'line_is_split_at_its_last_equals_sign_and_the_space_before', ' || equals == line' => '' ],
		[ 'next_line_is_read_unless_it_is_empty_or_a_comment', 'line + strlen(line) == newline && ' => '' ],
	],
	kind => [
		[ 'kinds_have_their_versions_and_clocks', 'UUID_KIND_V8_NODE, 8, UUID_CLOCK_V7' => 'UUID_KIND_V8_NODE, 8, UUID_CLOCK_V8' ],
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
	position => [
		[ 'branch_is_found_by_its_name', 'if (all->branches[i - 1].name == name)' => 'if (all->branches[i - 1].name >= name)' ],
		[ 'added_branch_is_the_last_and_displaces_only_the_oldest', '--all->count * sizeof(UuidBranch)' => 'all->count-- * sizeof(UuidBranch)' ],
		[ 'floors_are_lowered_to_the_start', 'if (start < all->branches[i].floor)' => 'if (start > all->branches[i].floor)' ],
		[ 'floors_that_stay_are_not_reported', 'lowered = false;' => 'lowered = true;' ],
		[ 'numbers_are_read_back', '[number & 15]' => '[number & 7]' ],
		[ 'checksum_of_one_character_has_the_constants_of_fowler_noll_and_vo', '16777619' => '16777617' ],
		[ 'checksum_is_that_of_fowler_noll_and_vo', 'sum = 2166136261' => 'sum = 2166136262' ],
		[ 'text_has_a_name_a_format_a_database_words_and_a_checksum', 'end, sealed->words[i],' => 'end, sealed->words[0],' ],
		[ 'text_is_read_if_it_is_written_for_its_numbers', 'if (length < shortest ||' => 'if (length + 16 < shortest ||' ],
		[ 'position_has_at_least_one_entry_and_only_whole_entries', 'position->count > 0 &&' => '' ],
		[ 'advancing_displaces_the_entry_of_the_branch_or_the_last_one', 'i -= UUID_POSITION_WORDS;' => 'i = 0;' ],
		[ 'reader_continues_at_the_greatest_id_that_an_entry_allows', 'memcmp(floor, id, UUID_BYTES) < 0' => 'memcmp(floor, id, UUID_BYTES) > 0' ],
	],
	random_buffer => [
		[ 'a_word_is_taken_from_the_end_and_erased', 'buffer->words[buffer->left] = 0;' => '' ],
		[ 'taking_a_word_keeps_the_others', 'buffer->words[buffer->left] = 0;' => 'buffer->words[0] = 0;' ],
		[ 'an_empty_or_foreign_buffer_is_refilled', 'buffer->owner != owner' => 'false' ],
		[ 'a_failing_source_leaves_an_erased_buffer', 'memset(buffer->words, 0, sizeof(buffer->words));' => '' ],
	],
	text => [
		[ 'urns_are_read_back', 'form->alphabet[high >> (64 - bits)]' => 'form->alphabet[low >> (64 - bits)]' ],
		[ 'base32hex_is_read_back', "\t\tlow <<= bits;" => '' ],
		[ 'ulids_are_read_back', 'form->bits - form->zeros_before' => 'form->bits' ],
		[ 'base64url_is_read_back', '((value - 1) >> zeros)' => '(value - 1)' ],
		[ 'suffixes_of_typeid_are_read_back', 'UUID_TYPEID_SUFFIX_LENGTH,.base = 32,.bits = 5,.zeros_before = 2' => 'UUID_TYPEID_SUFFIX_LENGTH,.base = 32,.bits = 5,.zeros_before = 1' ],
		[ 'what_is_read_from_a_urn_is_written_back', 'if (uuid_text_lower(string[i]) != form->frame[i])' => 'if (false)' ],
		[ 'what_is_read_from_base32hex_is_written_back', '(value - 1) % (1U << zeros) != 0' => 'false' ],
		[ 'what_is_read_from_a_ulid_is_written_back', 'if (uuid_text_multiply_add(words, power, digits) != 0)' => 'if (uuid_text_multiply_add(words, power, digits) > 99)' ],
		[ 'what_is_read_from_base64url_is_written_back', 'power *= form->base >> zeros;' => 'power *= form->base;' ],
		[ 'what_is_read_from_a_suffix_of_typeid_is_written_back', 'if (uuid_text_multiply_add(words, power, digits) != 0)' => 'if (uuid_text_multiply_add(words, power, digits) > 99)' ],
		[ 'urns_sort_as_their_uuids', '.name = "urn",.alphabet = "0123456789abcdef"' => '.name = "urn",.alphabet = "0123456789abcdfe"' ],
		[ 'base32hex_sorts_as_its_uuids', 'MNOPQRSTUV"' => 'MNOPQRSTVU"' ],
		[ 'ulids_sort_as_their_uuids', 'PQRSTVWXYZ",.values = uuid_values_ulid' => 'PQRSTVWYXZ",.values = uuid_values_ulid' ],
		[ 'suffixes_of_typeid_sort_as_their_uuids', '"0123456789abcdefghjkmnpqrstvwxyz"' => '"0123456789abcdefghjkmnpqrstvwyxz"' ],
		[ 'digits_have_their_values', "['P'] = 23, 24" => "['P'] = 24, 23" ],
		[ 'alphabets_except_two_are_in_ascii_order', 'YZabcdefghijkmnopqrstuvwxyz",' => 'ZYabcdefghijkmnopqrstuvwxyz",' ],
		[ 'other_bytes_have_no_values', "['L'] = 2,['O'] = 1" => "['L'] = 2,['U'] = 1" ],
		[ 'capital_letters_have_a_lower_case', q{c - 'A' + 'a'} => q{c - 'A' + 'b'} ],
		[ 'a_number_is_divided_by_58_to_the_5', 'remainder %= divisor;' => 'remainder %= divisor + 1;' ],
		[ 'a_number_is_divided_by_62_to_the_5', 'remainder << 32 | words[i]' => 'remainder << 31 | words[i]' ],
		map({ [ "a_number_is_multiplied_by_$_", 'words[i] = digits & UINT32_MAX;' => 'words[i] = digits;' ] }
			58, 62, map { ("58_to_the_$_", "62_to_the_$_") } 2 .. 5),
		[ 'a_number_has_at_most_22_digits', '.values = uuid_values_base58,.length = 22' => '.values = uuid_values_base58,.length = 21' ],
		[ 'text_in_base58_has_the_digits_of_the_remainders', 'form->alphabet[digits % base]' => 'form->alphabet[digits % (base - 1)]' ],
		[ 'text_in_base58flickr_has_the_digits_of_the_remainders', 'if (form->base == 58)' => 'if (form->values == uuid_values_base58)' ],
		[ 'text_in_base62_has_the_digits_of_the_remainders', 'if (i % 5 == 0)' => 'if (i % 3 == 0)' ],
		[ 'sums_of_the_digits_of_base58_are_passed_on', "\t\tdigits = 0;\n" => '' ],
		[ 'sums_of_the_digits_of_base58flickr_are_passed_on', "\t\tdigits = 0;\n" => '' ],
		[ 'sums_of_the_digits_of_base62_are_passed_on', 'power <= UINT32_MAX / 64' => 'power <= UINT32_MAX' ],
		[ 'only_urns_have_their_digits', 'if (uuid_text_lower(string[i]) != form->frame[i])' => 'if (string[i] != form->frame[i])' ],
		[ 'only_texts_in_base32hex_have_their_digits', q{string[length - 1] == '='} => q{string[length - 1] != 'x'} ],
		[ 'only_ulids_have_their_digits', 'if (value == 0 || value > form->base' => 'if (value > form->base' ],
		[ 'only_texts_in_base64url_have_their_digits', '(value - 1) % (1U << zeros) != 0' => 'false' ],
		[ 'only_suffixes_of_typeid_have_their_digits', 'value > form->base ||' => 'value >= form->base ||' ],
		[ 'texts_have_the_length_of_their_form', 'length < (form->bits > 0 ? form->length : 1)' => 'length < 1' ],
		[ 'forms_have_their_names', '.name = "ulid"' => '.name = "ulids"' ],
		[ 'names_of_forms_are_found_in_any_case', 'if (j == length && known[j]' => 'if (j == length || known[j]' ],
		[ 'prefixes_of_typeid_are_lower_case_with_inner_underscores', q{prefix[length - 1] == '_'} => q{prefix[length - 1] == '-'} ],
		[ 'typeid_is_a_suffix_or_a_prefix_underscore_and_suffix', 'length == 1 || ' => '' ],
		[ 'text_is_read_if_it_has_the_form', '(uint8_t) (digit << 4)' => '(uint8_t) (digit << 3)' ],
	],
	transaction_history => [
		[ 'entries_stay_in_the_order_of_their_ids', 'history->count[i] = 1;' => 'history->count[i] = 2;' ],
		[ 'no_transaction_is_forgotten', 'merged.first = level->first[0];' => ';' ],
	],
);

my $root = abs_path(dirname(__FILE__) . '/../..');
my $copy = tempdir(CLEANUP => 1);
my $folder = tempdir(CLEANUP => 1);
my $proofs = Proofs->new($copy, $folder);
my $only = shift @ARGV;
my $seconds = 0;

# Apply an edit to the only file that contains its text, and return the path and the former content.
sub edit
{
	my ($from, $to) = @_;
	my @found = grep { index(Proofs::content($_), $from) >= 0 } glob "$copy/src/core/*.[ch]";

	die scalar(@found) . " files contain: $from" if @found != 1;
	my $content = Proofs::content($found[0]);
	my @parts = split /\Q$from\E/, $content, -1;
	die "$found[0] contains $#parts times: $from" if @parts != 2;
	Proofs::content($found[0], join $to, @parts);
	return ($found[0], $content);
}

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
		my ($path, $content) = edit($from, $to);
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
