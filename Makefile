# uuid9562: every UUID version of RFC 9562 for PostgreSQL
#
#	make && make install && make installcheck
#
# PG_CONFIG names the PostgreSQL to build for.

EXTENSION = uuid9562
EXTVERSION = $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" uuid9562.control)

MODULE_big = uuid9562
OBJS = \
	src/core/entropy.o \
	src/aggregate.o \
	src/batch.o \
	src/constants.o \
	src/convert.o \
	src/estimate.o \
	src/generate.o \
	src/inspect.o \
	src/instance.o \
	src/mark.o \
	src/named.o \
	src/period.o \
	src/planner.o \
	src/session.o \
	src/statistics.o \
	src/uuid9562.o
PGFILEDESC = "uuid9562 - every UUID version of RFC 9562"

DATA = $(wildcard uuid9562--*.sql)
DOCS = $(wildcard doc/*.md)

PG_CPPFLAGS = -DUUID9562_VERSION='"$(EXTVERSION)"'

REGRESS = vectors inspect convert aggregate named custom time node plans settings statistics errors nulls
REGRESS_OPTS = --inputdir=. --load-extension=$(EXTENSION)

CORE_TESTS = layout layout_by_octet clock generator entropy text
CORE_PROGRAMS = $(CORE_TESTS:%=test/core/%)
EXTRA_CLEAN = $(CORE_PROGRAMS)

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
ifeq ($(PGXS),)
$(error PG_CONFIG=$(PG_CONFIG) cannot be run; name the pg_config of your PostgreSQL, and see README.md for what to install)
endif
include $(PGXS)

# the manual has pages with names such as index.md
docmoduledir := extension/$(EXTENSION)

# the bitcode too: JIT inlines it
$(OBJS) $(OBJS:.o=.bc): $(wildcard src/*.h src/core/*.h) uuid9562.control

# The core's unit tests: the module's own object files, linked with cmocka.
coretest: $(CORE_PROGRAMS)
	prove --verbose --exec '' $(CORE_PROGRAMS)

$(CORE_PROGRAMS): %: %.c test/core/layout.c test/core/support.h src/core/entropy.o $(wildcard src/core/*.h)
	$(CC) -std=c11 $(CFLAGS) -Isrc/core -o $@ $< src/core/entropy.o -lcmocka

# Properties over generated values, on a running server that has pgTAP.
pgtap:
	pg_prove --verbose $(wildcard test/pgtap/*.sql)

.PHONY: coretest pgtap
