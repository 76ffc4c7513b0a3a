# The official postgres image, with uuid9562 in it:
#
#	docker build -t postgres-uuid9562 .
#	docker build --build-arg major=17 -t postgres-uuid9562 .
#
# Then CREATE EXTENSION uuid9562, in each database.
#
# Or, from PostgreSQL 18 on, an image that has the extension and nothing else, as
# CloudNativePG mounts it into its own images:
#
#	docker build --target extension -t uuid9562-extension .
ARG major=18

# The image knows its own major version as PG_MAJOR, also where its tag is longer.
FROM postgres:$major AS build
RUN apt-get update && \
	apt-get install -y --no-install-recommends gcc libc6-dev libssl-dev make "postgresql-server-dev-$PG_MAJOR"
COPY . /uuid9562
RUN make -C /uuid9562 PG_CONFIG="/usr/lib/postgresql/$PG_MAJOR/bin/pg_config" && \
	make -C /uuid9562 PG_CONFIG="/usr/lib/postgresql/$PG_MAJOR/bin/pg_config" install DESTDIR=/installed
RUN mkdir -p /extension/lib /extension/share/extension && \
	cp "/installed/usr/lib/postgresql/$PG_MAJOR/lib/uuid9562.so" /extension/lib/ && \
	cp "/installed/usr/share/postgresql/$PG_MAJOR/extension/"uuid9562* /extension/share/extension/

FROM scratch AS extension
COPY --from=build /extension/ /

# The module with its bitcode, and the control file with its script.
FROM postgres:$major
COPY --from=build /installed/usr/lib/postgresql/ /usr/lib/postgresql/
COPY --from=build /installed/usr/share/postgresql/ /usr/share/postgresql/
