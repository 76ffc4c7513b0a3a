# The official postgres image with uuid9562:
#
#	docker build -t postgres-uuid9562 .
#	docker build --build-arg major=17 -t postgres-uuid9562 .
#
# Run CREATE EXTENSION uuid9562 in each database, and CREATE EXTENSION uuid9562_changes to read the
# changes of tables.
#
# For PostgreSQL 18 and later, the target "extension" is an image that contains only the
# extensions.  CloudNativePG mounts this image into the containers of its own images:
#
#	docker build --target extension -t uuid9562-extension .
ARG major=18

# The image sets PG_MAJOR to its major version, also if its tag is longer.
FROM postgres:$major AS build
RUN apt-get update && \
	apt-get install -y --no-install-recommends gcc libc6-dev libssl-dev make "postgresql-server-dev-$PG_MAJOR"
COPY . /uuid9562
RUN make -C /uuid9562 PG_CONFIG="/usr/lib/postgresql/$PG_MAJOR/bin/pg_config" && \
	make -C /uuid9562 PG_CONFIG="/usr/lib/postgresql/$PG_MAJOR/bin/pg_config" install DESTDIR=/installed
RUN mkdir -p /extension/licenses/uuid9562 /extension/share && \
	cp /uuid9562/LICENSE /extension/licenses/uuid9562/ && \
	cp -R "/installed/usr/lib/postgresql/$PG_MAJOR/lib" /extension/ && \
	cp -R "/installed/usr/share/postgresql/$PG_MAJOR/extension" /extension/share/

FROM scratch AS extension
COPY --from=build /extension/ /
USER 65532:65532

# The library with its bitcode, and the control files with their scripts.
FROM postgres:$major
COPY --from=build /installed/usr/lib/postgresql/ /usr/lib/postgresql/
COPY --from=build /installed/usr/share/postgresql/ /usr/share/postgresql/
