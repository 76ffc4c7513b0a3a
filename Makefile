# uuid9562: every UUID version of RFC 9562 for PostgreSQL
#
#	make && make install && make installcheck
#
# PG_CONFIG is the pg_config of the PostgreSQL to build for.  To build outside the source
# folder, run "make -f .../uuid9562/Makefile" in the folder for the build.

SOURCE := $(patsubst %/,%,$(or $(VPATH),$(dir $(firstword $(MAKEFILE_LIST)))))
# PGXS does not set VPATH if PostgreSQL was configured in its own source folder, so set it.
ifneq ($(SOURCE),.)
VPATH = $(SOURCE)
endif
OWN_FILES = $(patsubst $(SOURCE)/%,%,$(wildcard $(addprefix $(SOURCE)/,$(1))))

# The library of uuid9562 also has the functions of uuid9562_changes.
EXTENSION = uuid9562 uuid9562_changes
EXTVERSION = $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" $(SOURCE)/uuid9562.control)

MODULE_big = uuid9562
OBJS = \
	src/settings.o \
	src/uuid9562.o \
	src/changes/administration.o \
	src/changes/after_commit.o \
	src/changes/collect_keys.o \
	src/changes/compare_table_states.o \
	src/changes/confirm.o \
	src/changes/entries.o \
	src/changes/fetch_rows.o \
	src/changes/key.o \
	src/changes/locks.o \
	src/changes/log.o \
	src/changes/own_tables.o \
	src/changes/page_start.o \
	src/changes/parsed_types.o \
	src/changes/place.o \
	src/changes/purge.o \
	src/changes/purge_worker.o \
	src/changes/read.o \
	src/changes/reader.o \
	src/changes/renew_table_states.o \
	src/changes/request.o \
	src/changes/source.o \
	src/changes/table_files.o \
	src/changes/table_state.o \
	src/changes/table_state_rows.o \
	src/changes/transaction.o \
	src/changes/trigger.o \
	src/changes/wait.o \
	src/core/random_buffer.o \
	src/runtime/runtime.o \
	src/generate/generate.o \
	src/generate/name_based.o \
	src/value/constants.o \
	src/value/convert_versions.o \
	src/value/extract.o \
	src/value/floor_ceil.o \
	src/value/min_max.o \
	src/value/text_forms.o \
	src/public_id/key_file.o \
	src/public_id/public_id.o \
	src/period/comparisons.o \
	src/period/histogram.o \
	src/period/period.o \
	src/period/selectivity.o \
	src/period/support.o \
	src/ordered/administration.o \
	src/ordered/citus.o \
	src/ordered/clock_warning.o \
	src/ordered/high_water_mark.o \
	src/ordered/horizon.o \
	src/ordered/next_value.o \
	src/ordered/position.o \
	src/ordered/reservation.o \
	src/ordered/shared_memory.o \
	src/ordered/snapshot_horizons.o \
	src/ordered/transaction_slot.o \
	src/ordered/triggers.o
PGFILEDESC = "uuid9562 - every UUID version of RFC 9562"

DATA = $(call OWN_FILES,$(EXTENSION:=--*.sql))
# Install the manual in the same folders as in the source, so that links between pages work.
MANUAL = $(call OWN_FILES,*.md LICENSE doc/*.md managed/*.sql examples/*.* examples/*/*.* findings/*.* doc/benchmarks/*/* doc/pictures/*.svg)

PG_CPPFLAGS = -I$(SOURCE)/src -DUUID9562_VERSION='"$(EXTVERSION)"'

REGRESS = vectors inspect convert aggregate named time node plans settings errors managed changes
REGRESS_OPTS = $(EXTENSION:%=--load-extension=%)
# The tests use characters that the encoding of the server's template can lack.
ENCODING = UTF8
NO_LOCALE = 1

CORE_TESTS = properties random_buffer text typeid key_lines feistel transaction_history position reader reader_schedules page_position
CORE_PROGRAMS = $(CORE_TESTS:%=test/core/%)

# Programs that run src/ordered and changes_wait() under every schedule, their objects, and the
# objects of the code.
SCHEDULE_PROGRAMS = test/schedules/horizon test/schedules/reservation
SCHEDULE_OBJECTS = $(patsubst %,test/schedules/%.o,explore hooks memory server stubs transactions wait)
ORDERED_OBJECTS = $(patsubst src/ordered/%.o,test/schedules/code_%.o,$(filter-out %/high_water_mark.o,$(filter src/ordered/%.o,$(OBJS))))
WAIT_OBJECTS = test/schedules/code_wait.o test/schedules/code_after_commit.o
EXTRA_CLEAN = $(CORE_PROGRAMS) $(SCHEDULE_PROGRAMS) $(SCHEDULE_PROGRAMS:=.o) $(SCHEDULE_OBJECTS) $(ORDERED_OBJECTS) $(WAIT_OBJECTS) .pg_config

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
ifeq ($(PGXS),)
$(error PG_CONFIG=$(PG_CONFIG) cannot be run; name the pg_config of your PostgreSQL, and see README.md for what to install)
endif
include $(PGXS)

# If PostgreSQL was built with OpenSSL, link with libcrypto, which implements AES.
SHLIB_LINK += $(filter -lcrypto,$(LIBS))

# Build the object files and the bitcode for JIT again if a header, the version or the
# selected PostgreSQL changes.  .pg_config has the output of the pg_config for which they
# were built.  The recipe of .pg_config always runs, but writes the file only if the output differs.
$(OBJS) $(OBJS:.o=.bc): $(call OWN_FILES,src/*.h src/*/*.h) uuid9562.control .pg_config
.pg_config: select-postgres
	@[ "$$(cat $@ 2>/dev/null)" = "$$($(PG_CONFIG))" ] || { rm -f $@ && $(PG_CONFIG) >$@; }
select-postgres:

ifneq ($(SOURCE),.)
FOLDERS = $(sort $(patsubst %/,$(CURDIR)/%,$(dir $(OBJS) $(CORE_PROGRAMS) $(SCHEDULE_PROGRAMS))))
$(OBJS) $(OBJS:.o=.bc) $(CORE_PROGRAMS) $(SCHEDULE_PROGRAMS:=.o) $(SCHEDULE_OBJECTS) $(ORDERED_OBJECTS) $(WAIT_OBJECTS): | $(FOLDERS)
$(FOLDERS):
	mkdir -p $@
endif

install: install-manual
uninstall: uninstall-manual

# Install the manual in a folder of its own: other extensions use $(docdir)/extension too.
ifneq (,$(docdir))
manualdir = $(DESTDIR)$(docdir)/extension/$(MODULE_big)

install-manual:
	$(MKDIR_P) '$(manualdir)' $(patsubst %,'$(manualdir)/%',$(sort $(dir $(MANUAL))))
	for file in $(MANUAL); do $(INSTALL_DATA) $(SOURCE)/$$file '$(manualdir)'/$$file || exit; done

uninstall-manual:
	rm -rf '$(manualdir)'
else
install-manual uninstall-manual:
endif

# Check the server first.  Without a server, pg_regress reports only that psql failed.
installcheck: server-for-installcheck
server-for-installcheck:
	@reply=$$('$(bindir)/psql' -XAtq -d postgres -c "SELECT CASE WHEN rolsuper THEN 'ready' \
		ELSE 'role ' || rolname || ' is no superuser' END FROM pg_roles WHERE rolname = current_user" 2>&1); \
	if [ "$$reply" != ready ]; then \
		echo "make installcheck: $$reply"; \
		echo; \
		echo "It needs a running PostgreSQL $(MAJORVERSION) server, on which \"make install\" has installed"; \
		echo "the extension, and a superuser.  Select them with PGHOST, PGPORT and PGUSER."; \
		echo "On Debian and Ubuntu, this command runs the tests on a temporary server, as any user:"; \
		echo; \
		echo "	pg_virtualenv -v $(MAJORVERSION) make installcheck PG_CONFIG=$(PG_CONFIG)"; \
		exit 1; \
	fi >&2

# Unit tests of src/core, linked with cmocka.  On Linux, also run src/ordered under every
# schedule, which requires ucontext.h and GNU's linker; see test/schedules/explore.h.
ifeq ($(PORTNAME),linux)
CORE_TEST_PROGRAMS = $(CORE_PROGRAMS) $(SCHEDULE_PROGRAMS)
else
CORE_TEST_PROGRAMS = $(CORE_PROGRAMS)
endif

coretest: $(CORE_TEST_PROGRAMS)
	prove --verbose --exec '' $(CORE_TEST_PROGRAMS)

# Check that the programs in test/schedules find errors in src/ordered.
edittest:
	CC='$(CC)' PG_CONFIG='$(PG_CONFIG)' prove --verbose $(SOURCE)/test/schedules/edits.pl

$(CORE_PROGRAMS): %: %.c test/core/support.h $(call OWN_FILES,test/proofs/*) src/core/random_buffer.o $(call OWN_FILES,src/core/*.h)
	$(CC) -std=c11 $(CFLAGS) -I$(SOURCE)/src/core -o $@ $< src/core/random_buffer.o -lcmocka

# Without optimization, gcc copies structures that are arguments without a call of test/schedules/memory.c.
SCHEDULE_FLAGS = $(CFLAGS) $(CPPFLAGS) -O2 -fno-lto -fno-builtin -U_FORTIFY_SOURCE -DUUID_HISTORY_LEVELS=2 -DUUID_BRANCH_MAX=3

$(SCHEDULE_PROGRAMS): %: %.o $(SCHEDULE_OBJECTS) $(ORDERED_OBJECTS) $(WAIT_OBJECTS) src/runtime/runtime.o
	$(CC) $(CFLAGS) -fno-lto -o $@ $^ -Wl,--gc-sections

$(SCHEDULE_PROGRAMS:=.o) $(SCHEDULE_OBJECTS) $(ORDERED_OBJECTS) $(WAIT_OBJECTS): $(call OWN_FILES,src/*.h src/*/*.h test/schedules/*.h)
$(SCHEDULE_PROGRAMS:=.o) $(SCHEDULE_OBJECTS): test/schedules/%.o: test/schedules/%.c
	$(CC) $(SCHEDULE_FLAGS) -c -o $@ $<

# At each memory access of these objects, the compiler inserts a call of test/schedules/memory.c.
COMPILE_CODE = $(CC) $(SCHEDULE_FLAGS) -fsanitize=thread -ffunction-sections -include $(SOURCE)/test/schedules/points.h -c -o $@ $<

$(ORDERED_OBJECTS): test/schedules/code_%.o: src/ordered/%.c
	$(COMPILE_CODE)
$(WAIT_OBJECTS): test/schedules/code_%.o: src/changes/%.c
	$(COMPILE_CODE)

# Tests in pgTAP, in a database that has the extensions pgtap and uuid9562.  PGDATABASE selects
# the database.  As in PGXS, PROVE_TESTS selects tests.
pgtap:
	pg_prove --verbose $(or $(PROVE_TESTS),$(wildcard $(SOURCE)/test/pgtap/*.sql))

.PHONY: select-postgres install-manual uninstall-manual server-for-installcheck coretest edittest pgtap
