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

EXTENSION = uuid9562
EXTVERSION = $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" $(SOURCE)/uuid9562.control)

MODULE_big = uuid9562
OBJS = \
	src/settings.o \
	src/uuid9562.o \
	src/core/random_buffer.o \
	src/runtime/runtime.o \
	src/generate/batch.o \
	src/generate/generate.o \
	src/generate/name_based.o \
	src/value/constants.o \
	src/value/convert.o \
	src/value/inspect.o \
	src/value/min_max.o \
	src/value/public_id.o \
	src/value/timestamp.o \
	src/period/bounds.o \
	src/period/rewrite.o \
	src/period/selectivity.o \
	src/period/version.o \
	src/period/within.o \
	src/instance/administration.o \
	src/instance/high_water_mark.o \
	src/instance/horizon.o \
	src/instance/horizon_cache.o \
	src/instance/ordered.o \
	src/instance/shared_memory.o \
	src/instance/transaction_slot.o
PGFILEDESC = "uuid9562 - every UUID version of RFC 9562"

DATA = $(call OWN_FILES,uuid9562--*.sql)
# Install the manual in the same folders as in the source, so that links between pages work.
MANUAL = $(call OWN_FILES,*.md LICENSE doc/*.md managed/*.sql doc/benchmarks/*/*)

PG_CPPFLAGS = -I$(SOURCE)/src -DUUID9562_VERSION='"$(EXTVERSION)"'

REGRESS = vectors inspect convert aggregate named time node plans settings errors managed
REGRESS_OPTS = --load-extension=$(EXTENSION)

CORE_TESTS = layout clock generator random_buffer text base58 feistel transaction_history horizon
CORE_PROGRAMS = $(CORE_TESTS:%=test/core/%)
EXTRA_CLEAN = $(CORE_PROGRAMS)

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
ifeq ($(PGXS),)
$(error PG_CONFIG=$(PG_CONFIG) cannot be run; name the pg_config of your PostgreSQL, and see README.md for what to install)
endif
include $(PGXS)

# If PostgreSQL was built with OpenSSL, link with libcrypto, which implements AES.
SHLIB_LINK += $(filter -lcrypto,$(LIBS))

# Build the object files and the bitcode for JIT again if a header or the version changes.
$(OBJS) $(OBJS:.o=.bc): $(call OWN_FILES,src/*.h src/*/*.h) uuid9562.control

ifneq ($(SOURCE),.)
FOLDERS = $(sort $(patsubst %/,$(CURDIR)/%,$(dir $(OBJS) $(CORE_PROGRAMS))))
$(OBJS) $(OBJS:.o=.bc) $(CORE_PROGRAMS): | $(FOLDERS)
$(FOLDERS):
	mkdir -p $@
endif

install: install-manual
uninstall: uninstall-manual

# Install the manual in a folder of its own: other extensions use $(docdir)/extension too.
ifneq (,$(docdir))
manualdir = $(DESTDIR)$(docdir)/extension/$(EXTENSION)

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

# Unit tests of src/core, linked with cmocka.
coretest: $(CORE_PROGRAMS)
	prove --verbose --exec '' $(CORE_PROGRAMS)

$(CORE_PROGRAMS): %: %.c test/core/layout.c test/core/support.h src/core/random_buffer.o $(call OWN_FILES,src/core/*.h)
	$(CC) -std=c11 $(CFLAGS) -I$(SOURCE)/src/core -o $@ $< src/core/random_buffer.o -lcmocka

# Tests in pgTAP, in a database that has the extensions pgtap and uuid9562.  PGDATABASE selects
# the database.
pgtap:
	pg_prove --verbose $(wildcard $(SOURCE)/test/pgtap/*.sql)

.PHONY: install-manual uninstall-manual server-for-installcheck coretest pgtap
