# Check that the programs of this folder find errors: apply each edit below to a copy of the
# code, build the program, and check that a schedule of the named scenario fails.  Do the same with
# test/core/reader_schedules.c, which has no scenarios.  If the code does not contain the text of an
# edit exactly once, that is an error, so that no edit is lost.
#
#	make edittest
#	perl test/schedules/edits.pl [PART OF A DESCRIPTION]
use strict;
use warnings FATAL => 'all';

use Cwd qw(abs_path);
use File::Basename;
use File::Temp qw(tempdir);
use Test::More;
use Time::HiRes qw(time);

use lib dirname(__FILE__) . '/../proofs';
use Proofs;

# Each edit has a description, the scenario that finds it, and pairs of a text in the code and its
# replacement.
my @horizon = (
	[ 'the value is recorded after the lock is released (1)', 'two writers',
		"\t\trecord_value(payload->time);\n" => '',
		"\tSpinLockRelease(&generator->lock);\n\tif (unlikely(next" =>
		"\tSpinLockRelease(&generator->lock);\n\tif (usable)\n\t\trecord_value(payload->time);\n\tif (unlikely(next" ],
	[ 'the last value is read after the slots (1)', 'two writers',
		"\thorizon.time = close_tick();\n" => '',
		"\thorizon.time = Min(horizon.time, smallest);" => "\thorizon.time = Min(close_tick(), smallest);" ],
	[ 'the last value is read without the lock (1)', 'two writers',
		"\tSpinLockAcquire(&generator->lock);\n\tprevious =" => "\tprevious =",
		"\tSpinLockRelease(&generator->lock);\n\n\tif (previous" => "\tif (previous" ],
	[ 'the slot is cleared before the history has its values (2)', 'two writers',
		"\tif (history_slot != NULL)\n\t\tadd_to_history(history_slot, entry);\n" => '',
		"\tpg_atomic_write_u64(&slot->first, UUID_NO_TIME);\n" =>
		"\tpg_atomic_write_u64(&slot->first, UUID_NO_TIME);\n\tif (history_slot != NULL)\n\t\tadd_to_history(history_slot, entry);\n" ],
	[ 'the history is read before the slot (3)', 'two writers',
		"\t\tuint64\t\tfirst = smallest_in_progress(i);\n" => '',
		"uuid9562_shared->slots[i].slot, full);\n" =>
		"uuid9562_shared->slots[i].slot, full);\n\t\tuint64\t\tfirst = smallest_in_progress(i);\n" ],
	[ 'a history is read from its oldest entry (4)', 'a history is merged',
		'for (int j = history->count[i] - 1; j >= 0; j--)' => 'for (int j = 0; j < history->count[i]; j++)' ],
	[ 'a history is read from its oldest level (4)', 'a history is merged',
		"for (int i = 0; i < UUID_HISTORY_LEVELS; i++)\n\t{\n\t\tconst volatile" =>
		"for (int i = UUID_HISTORY_LEVELS - 1; i >= 0; i--)\n\t{\n\t\tconst volatile" ],
	[ 'a history that has changed is not read again (5)', 'under an old snapshot',
		'if (changecount % 2 == 0 && pg_atomic_read_u64(&slot->changecount) == changecount)' => 'if (changecount % 2 == 0)' ],
	[ 'a history is read while it changes (5)', 'a history is merged',
		'if (changecount != 0 && changecount % 2 == 0)' => 'if (changecount != 0)',
		'if (changecount % 2 == 0 && pg_atomic_read_u64' => 'if (pg_atomic_read_u64' ],
	[ 'the slots of prepared transactions are read first (6)', 'is prepared, and committed',
		'smallest_in_progress(i)' => 'smallest_in_progress(slot_count() - 1 - i)',
		'smallest_finished(&uuid9562_shared->slots[i].slot' => 'smallest_finished(&uuid9562_shared->slots[slot_count() - 1 - i].slot' ],
	[ 'the history of another database is not read (7)', 'another database follows',
		"smallest_finished(&uuid9562_shared->slots[i].slot, full);\n" =>
		"smallest_finished(&uuid9562_shared->slots[i].slot, full);\n\n\t\tif (((const volatile PGPROC *) GetPGProcByNumber(i))->databaseId != MyDatabaseId)\n\t\t\tcontinue;\n" ],
	[ 'the history of a prepared transaction has the database of its PGPROC (7)', 'uses the slot of a prepared transaction',
		"smallest_finished(&uuid9562_shared->slots[i].slot, full);\n" =>
		"smallest_finished(&uuid9562_shared->slots[i].slot, full);\n\n\t\tif (i >= FIRST_PREPARED_XACT_PROC_NUMBER && ((const volatile PGPROC *) GetPGProcByNumber(i))->databaseId != MyDatabaseId)\n\t\t\tcontinue;\n" ],
	[ 'a process of another database holds the horizon (7)', 'stays prepared',
		'level[j].database == MyDatabaseId || level[j].database == UUID_ANY_DATABASE' => 'true' ],
	[ 'merging keeps the database of the newer entry', 'of two databases is merged',
		'if (level[0].database != merged.database)' => 'if (false)' ],
	[ 'a transaction prepared elsewhere is unknown', 'prepared elsewhere',
		'proc->xid == xid && proc->databaseId != MyDatabaseId' => 'false && proc->xid == xid' ],
	[ 'a transaction prepared here is known', 'first use, with a prepared',
		'proc->xid == xid && proc->databaseId != MyDatabaseId' => 'proc->xid == xid' ],
	[ 'a prepared transaction has no history (6)', 'is prepared, and committed',
		'finish_transaction(slot_of(proc));' => 'finish_transaction(NULL);' ],
	[ 'no write barrier after the changecount becomes odd', 'under an old snapshot',
		"changecount + 1);\n\tpg_write_barrier();\n" => "changecount + 1);\n" ],
	[ 'no write barrier before the changecount becomes even', 'a history is merged',
		"\tpg_write_barrier();\n\tpg_atomic_write_u64(&slot->changecount, changecount + 2);" =>
		"\tpg_atomic_write_u64(&slot->changecount, changecount + 2);" ],
	[ 'no read barrier after the changecount', 'a history is merged',
		"\t\tpg_read_barrier();\n\t\tif (changecount != 0" => "\t\tif (changecount != 0" ],
	[ 'no read barrier before the second reading of the changecount', 'under an old snapshot',
		"\t\tpg_read_barrier();\n\t\tif (changecount % 2" => "\t\tif (changecount % 2" ],
	[ 'no write barrier before the mark is loaded', 'first use',
		"\tpg_write_barrier();\n\tpg_atomic_write_u64(&uuid9562_shared->branch" => "\tpg_atomic_write_u64(&uuid9562_shared->branch",
		"\tpg_write_barrier();\n\tuuid9562_shared->loaded" => "\tuuid9562_shared->loaded" ],
	[ 'no read barrier after the mark is loaded', 'first use',
		"\t\tpg_read_barrier();\n\t\treturn;" => "\t\treturn;" ],
	[ 'the tick is not closed', 'two writers',
		"\t\tgenerator->state.previous.tail = UUID_TAIL_MAX;\n" => "\t\t;\n" ],
	[ 'the smallest value is not kept', 'reset in a transaction',
		'if (time < pg_atomic_read_u64(first))' => 'if (pg_atomic_read_u64(first) == UUID_NO_TIME)' ],
	[ 'the slot has the last value', 'two writers',
		"\tif (time < pg_atomic_read_u64(first))\n" => '' ],
	[ 'merging keeps the greater value', 'a history is merged',
		'if (level[0].first < merged.first)' => 'if (level[0].first > merged.first)' ],
	[ 'the slot of a finished process is not cleared', 'backend exits',
		"\tif (event == XACT_EVENT_ABORT)\n" => "\tif (event == XACT_EVENT_PARALLEL_ABORT)\n" ],
	[ 'a transaction that commits is not finished', 'two writers',
		"\tRegisterResourceReleaseCallback(finish_committed, NULL);\n" => "\t(void) finish_committed;\n" ],
	[ 'a transaction with an unknown ID is not refused', 'first use',
		"\t\tknown &= full_xid" => "\t\tknown |= full_xid" ],
	[ 'a snapshot from before the first use is not refused', 'old snapshot',
		'known = full->xmax >= first_known_xid;' => 'known = true;' ],
	[ 'the next transaction ID is read after those in progress', 'first use',
		'first = U64FromFullTransactionId(next);' => 'first = UINT64_MAX;',
		"\treturn first;" => "\treturn Min(first, U64FromFullTransactionId(ReadNextFullTransactionId()));" ],
	[ 'first_known_xid is the next transaction ID', 'first use',
		'first = Min(first, full_xid(xid, next));' => 'first = Max(first, full_xid(xid, next));' ],
	[ 'transaction IDs do not wrap around', 'prepared elsewhere',
		'TransactionIdPrecedes(xid, XidFromFullTransactionId(next))' => 'xid < XidFromFullTransactionId(next)' ],
	[ 'prepared transactions are known', 'first use',
		'i < FIRST_PREPARED_XACT_PROC_NUMBER; i++' => 'i < slot_count(); i++' ],
	[ 'a cached horizon is computed again', 'two writers',
		"if (!cached->known)" => 'if (true)' ],
	[ 'a cached horizon is used for another snapshot', 'a cursor',
		'if (is_for_snapshot(entry, snapshot))' => 'if (is_for_snapshot(entry, snapshot) || true)' ],
	[ 'the branch is captured after the horizon', 'positions, and a reset',
		"\t\tcached->known = true;\n" =>
		"\t\tcached->known = true;\n\t\tcached->branch = pg_atomic_read_u64(&uuid9562_shared->branch);\n" ],
	[ 'a reset publishes the branch before the generator restarts', 'positions, and a reset',
		"\t/* after a successful write, forget" => "\tpublish_branch(name);\n\t/* after a successful write, forget",
		"\t\tpublish_branch(name);\n\t}" => "\t}" ],
	[ 'the first use publishes the branch before the generator advances', 'first use, with a position',
		"\tif (mark->reserved_until > covered)\n" => "\tif (!uuid9562_shared->loaded)\n\t\tpublish_branch(1);\n\tif (mark->reserved_until > covered)\n" ],
	[ 'a reset does not lower the floors', 'positions, and a reset',
		"\t\tuuid_branches_lower(&mark.branches, mark.reserved_until);\n\n" => '' ],
	[ 'the first use does not lower the floors', 'first use, with a position',
		'uuid_branches_lower(&mark->branches, mark->reserved_until)' => 'false' ],
	[ 'the first use does not write the lowered floors', 'first use, with a position',
		"\t\tif (load_mark(&mark))\n" => "\t\tif (load_mark(&mark) && false)\n" ],
	[ 'a reset does not record the branch', 'positions, and a reset',
		'if (old != pg_atomic_read_u64(&uuid9562_shared->recorded_branch))' => 'if (false)' ],
	[ 'the branch of a position is not recorded', 'positions, and a reset',
		"\t\tlsn = uuid9562_write_mark(&mark);\n" => "" ],
	[ 'the branch of a position is not flushed', 'positions, and a reset',
		"\tXLogFlush(lsn);\n\tpg_atomic_write_u64" => "\tpg_atomic_write_u64" ],
	[ 'a process looks before it is counted as waiting', 'waits for a row',
		"\tadd_waiter(number);\n" => '',
		"\t\tfound = look(request);\n" => "\t\tfound = look(request);\n\t\tadd_waiter(number);\n" ],
	[ 'a process waits for the table while others hold the horizon', 'others hold the horizon',
		'(found == LOOK_EMPTY) == (number != GUEST_HORIZON_QUEUE)' => 'number != GUEST_HORIZON_QUEUE' ],
	[ 'a transaction wakes before it has released the horizon', 'others hold the horizon',
		"\tpg_atomic_write_u64(&slot->first, UUID_NO_TIME);\n\tuuid9562_own_values = NO_VALUES;\n" => '',
		"\t\tuuid9562_finish_hook();\n" => "\t\tuuid9562_finish_hook();\n\tpg_atomic_write_u64(&slot->first, UUID_NO_TIME);\n\tuuid9562_own_values = NO_VALUES;\n" ],
	[ 'waiting processes are looked up before the horizon is released', 'others hold the horizon',
		"\tpg_memory_barrier();\n\tfor (int i = 0; queues" => "\tfor (int i = 0; queues" ],
	[ 'processes that wait for the table are not woken', 'waits for a row',
		"\t\tif (queues & 1)\n\t\t\twake(i);\n" => '' ],
	[ 'processes that wait for the horizon are not woken', 'others hold the horizon',
		"\twake(GUEST_HORIZON_QUEUE);\n" => '' ],
);
my @reservation = (
	[ 'an extension is used before it is flushed', 'two sessions extend',
		'if (GetFlushRecPtr(NULL) < extension->lsn)' => 'if (false)' ],
	[ 'a value can be at the end of the reservation', 'two sessions extend',
		'payload->time < state->reserved_until' => 'payload->time <= state->reserved_until' ],
	[ 'reading the mark does not advance the generator', 'two sessions extend',
		'if (mark->reserved_until > covered)' => 'if (false)' ],
	[ 'the mark is extended without having been read', 'two sessions extend',
		"\t(void) load_mark(&mark);\n" => "\tmemset(&mark, 0, sizeof(mark));\n" ],
	[ 'writing the mark lowers it', 'less than the clock',
		'Max(mark.reserved_until,' => 'Max(0,' ],
	[ 'an extension ignores the clock', 'two sessions extend',
		'Max(time, state.previous.time) >= state.extend_at' => 'state.previous.time >= state.extend_at' ],
	[ 'the mark is written without the lock', 'extend the reservation',
		"\twhile (!LWLockConditionalAcquire(lock, LW_EXCLUSIVE))\n" => "\twhile (false)\n",
		"\tif (!LWLockConditionalAcquire(&uuid9562_shared->mark_lock, LW_EXCLUSIVE))\n" => "\tif (false)\n" ],
	[ 'the generator is advanced before the mark is written', 'advanced, and a horizon',
		"\t\twrite_extension(payload.time, false);\n\t\tXLogFlush(uuid9562_shared->extension.lsn);\n\t\tuse_extension();\n\t\traise_previous(payload);\n" =>
		"\t\traise_previous(payload);\n\t\twrite_extension(payload.time, false);\n\t\tXLogFlush(uuid9562_shared->extension.lsn);\n\t\tuse_extension();\n" ],
	[ 'advancing does not extend the reservation', 'advanced, and a horizon',
		"\t\twrite_extension(payload.time, false);\n\t\tXLogFlush(uuid9562_shared->extension.lsn);\n\t\tuse_extension();\n\t\traise_previous(payload);\n" =>
		"\t\tHighWaterMark mark;\n\n\t\t(void) load_mark(&mark);\n\t\traise_previous(payload);\n" ],
	[ 'a reset keeps the reservation', 'the generator is reset',
		"\tset_reserved(0, 0, 0);\n" => '' ],
	[ 'a reset keeps the extension', 'and the generator is reset',
		"\tmemset(&uuid9562_shared->extension, 0, sizeof(Extension));\n" => '' ],
	[ 'an extension that is being flushed is forgotten', 'other processes flush WAL',
		'uuid9562_shared->extension.reserved_until);' => '0);' ],
	[ 'the generator is advanced before the extension is flushed', 'and the generator is advanced',
		"\t\tXLogFlush(uuid9562_shared->extension.lsn);\n" => '' ],
	[ 'late values have the time of the clock', 'other processes flush WAL slowly',
		'payload->time < state->reserved_until' => 'payload->time < Max(state->reserved_until, state->late_until)',
		"\t\tnow = late_from(state);\n" => '' ],
	[ 'waiting sessions are not woken', 'a waiting call',
		"\tConditionVariableBroadcast(&uuid9562_shared->mark_released);\n" => '' ],
	[ 'a failed write keeps the lock', 'a write fails',
		"\tPG_FINALLY(); \\\n\t{ \\\n\t\tunlock_mark(); \\\n\t} \\\n\tPG_END_TRY()\n" => "\tPG_CATCH(); \\\n\t{ \\\n\t\tPG_RE_THROW(); \\\n\t} \\\n\tPG_END_TRY(); \\\n\tunlock_mark()\n" ],
);

# rules of reader.h and of its callers, which test/core/reader_schedules.c models
my @reader = (
	[ 'a page confirms past its cap', '', 'end = uuid_reader_id_min(position->end, page->cap);' => 'end = position->end;' ],
	[ 'confirming a page does not guard its horizon', '', "\tuuid_reader_guard(reader, horizon);\n" => "\tif (known < 0)\n\t\tuuid_reader_guard(reader, horizon);\n" ],
	[ 'confirming an unknown page does not guard its horizon', '', "\tuuid_reader_guard(reader, horizon);\n" => "\tif (known >= 0)\n\t\tuuid_reader_guard(reader, horizon);\n" ],
	[ 'confirming a page whose later changes are purged does not reset', '',
		"\tuuid_reader_guard(reader, horizon);\n" => "\tif (!uuid_reader_is_lost(horizon, purged))\n\t\tuuid_reader_guard(reader, horizon);\n" ],
	[ 'an unknown page confirms', '', "\tuuid_reader_guard(reader, horizon);\n" =>
		"\tif (known < 0 && uuid_reader_id_less(reader->confirmed, position->end))\n\t\treader->confirmed = position->end;\n\tuuid_reader_guard(reader, horizon);\n" ],
	[ 'confirming a row forgets its page', '', 'if (uuid_reader_id_equal(position->end, page->end))' => 'if (true)' ],
	[ 'the end of a lease does not guard the horizon', '', 'uuid_reader_guard(reader, page->horizon);' => ';' ],
	[ 'a merged page does not guard its horizon', '', 'uuid_reader_guard(reader, page->horizon);' => "if (page->number != UUID_READER_NO_NUMBER)\n\t\t\tuuid_reader_guard(reader, page->horizon);" ],
	[ 'a lost history does not reset after pages that are out', '', 'uuid_reader_lower(reader, &reader->pages[i].horizon, uuid_reader_nothing);' => ';' ],
	[ 'a number is used again after a rollback', '', 'position.number = ++world->reads;' => 'position.number = world->reader.page_count + 1;' ],
	[ 'a page is forgotten when its program dies', '', "\t\t\tif (idle || (page->must_confirm && world->programs > 1))\n" =>
		"\t\t\tif (!idle && uuid_reader_find(&world->reader, page->position.number) >= 0)\n\t\t\t\tuuid_reader_forget(&world->reader, uuid_reader_find(&world->reader, page->position.number));\n\t\t\tif (idle || (page->must_confirm && world->programs > 1))\n" ],
);

delete $ENV{SCHEDULES};
my $root = abs_path(dirname(__FILE__) . '/../..');
my $copy = tempdir(CLEANUP => 1);
my $make = "make -s -C $copy COPT=-w" . join '', map { defined $ENV{$_} ? " $_='$ENV{$_}'" : () } qw(PG_CONFIG CC);

# Apply an edit, and run the scenario.  Return whether it failed, and the output.
sub found
{
	my ($program, $scenario, @replacements) = @_;
	my ($path, $content) = Proofs::edit([ glob "$copy/src/ordered/*.[ch] $copy/src/core/transaction_history.h $copy/src/changes/wait.c $copy/src/changes/after_commit.c $copy/src/core/reader.h $copy/test/core/reader_schedules.c" ], @replacements);
	my $output = `$make test/$program 2>&1`;
	die "could not build: $output" if $?;
	$output = `cd $copy && test/$program '$scenario' 2>&1`;
	Proofs::content($path, $content);
	return ($? != 0 && $output =~ /^not ok/m, $output);
}

system("cd '$root' && cp -R Makefile *.control src test $copy && rm -f $copy/test/schedules/*.o") == 0 or die;
system("$make test/schedules/horizon test/schedules/reservation") == 0 or die 'could not build the programs';

my $only = shift @ARGV;
foreach my $edits ([ 'schedules/horizon', @horizon ], [ 'schedules/reservation', @reservation ], [ 'core/reader_schedules', @reader ])
{
	my ($program, @edits) = @$edits;

	foreach my $edit (@edits)
	{
		my ($name, $scenario, @replacements) = @$edit;
		next if defined $only && index($name, $only) < 0;
		my $begin = time;
		my ($found, $output) = found($program, $scenario, @replacements);
		ok($found, "$program.c finds: $name") or diag($output);
		note(sprintf '%.1f s with the build; %s', time - $begin, $1) if $found && $output =~ /^not ok \d+ - (.*)/m;
	}
}
done_testing();
