#!/usr/bin/env bash
# Write IDs of Debian's packages to test/t/migrating, one file for each package:
#
#	other_ids.sh FOLDER WORK
#
# Programs that are not installed are left out.  libfaketime sets the clock that the others see,
# as in other_ids.mjs, but in whole seconds.  WORK is an empty folder, in which servers run.
set -euo pipefail
folder=$(realpath "$1")
work=$(realpath "$2")
cd "$work"

has() { command -v "$1" >/dev/null; }
# version PACKAGE: print its upstream version; short PACKAGE: without the third number
version() { dpkg-query -W -f '${Version}' "$1" | sed -E 's/^[0-9]+://; s/[-+~].*//'; }
short() { version "$1" | grep -Eo '^[0-9]+\.[0-9]+'; }
# put FILE MADE CONTENTS: write a file with the IDs of the standard input.
put() { { printf '# %s\n# %s\n' "$2" "$3"; cat; } >"$folder/$1.tsv"; }
timed="LD_PRELOAD=$(find /usr/lib -name 'libfaketime.so.1' | head -n 1) FAKETIME_TIMESTAMP_FILE=$work/clock FAKETIME_NO_CACHE=1 TZ=UTC"
# uuid_of() of other_ids.mjs
uuids() { for ((n = 0; n < $1; n++)); do printf %s "$n" | md5sum; done | sed -E 's/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/\1-\2-4\3-8\4-\5/'; }
uuids 2000 >uuids
# libfaketime reads this file at each look at the clock, so replace the file instead of writing to it
echo '2021-06-01 00:00:00' >clock

if perl -MData::UUID -e1 2>/dev/null; then
	for case in 'data-uuid create_bin 2000 bytea' 'data-uuid-base64 create_b64 100 text'; do
		read -r name call count type <<<"$case"
		in=
		[ "$type" = bytea ] || in=' in base64'
		perl -MData::UUID -MTime::HiRes=time,usleep -e '
			my ($call, $count) = @ARGV;
			my $generator = Data::UUID->new;
			for my $n (1 .. $count) {
				usleep(600);
				my ($before, $id, $after) = (int(time() * 1000), $generator->$call, int(time() * 1000));
				redo if $before != $after;
				print $call eq "create_bin" ? unpack("H*", $id) : $id, "\t$before\n";
			}' "$call" "$count" |
			put "$name" "Perl's Data::UUID $(version libdata-uuid-perl)$in: $call" "$type, time in the second column to 1 ms"
	done
fi

if ruby -rbson -e1 2>/dev/null; then
	ruby -rbson -e 'STDIN.each_line { |id| puts BSON::Binary.from_uuid(id.chomp, :java_legacy).data.unpack1("H*") }' <uuids |
		put ruby-bson "subtype 3 of Java by Ruby's bson $(short ruby-bson): BSON::Binary.from_uuid(id, :java_legacy).data" "bytea, UUID"
fi

if /usr/bin/python3 -c 'import bson.binary' 2>/dev/null; then
	for case in 'JAVA_LEGACY 3 of Java' 'CSHARP_LEGACY 3 of C#' 'PYTHON_LEGACY 3 of Python' 'STANDARD 4'; do
		name=${case%% *}
		head -n 100 uuids | /usr/bin/python3 -c "
import sys, uuid, bson.binary
for line in sys.stdin: print(bytes(bson.binary.Binary.from_uuid(uuid.UUID(line.strip()), bson.binary.UuidRepresentation.$name)).hex())" |
			put "python-bson-$(tr '[:upper:]_' '[:lower:]-' <<<$name)" "MongoDB's subtype ${case#* }: python3-bson $(short python3-bson), Binary.from_uuid(id, $name)" "bytea, UUID"
	done
fi

if [ -f /usr/share/php/Ramsey/Uuid/autoload.php ]; then
	cat >ramsey.php <<'END'
<?php
require '/usr/share/php/Ramsey/Uuid/autoload.php';
$factory = new Ramsey\Uuid\UuidFactory();
$codec = new Ramsey\Uuid\Codec\OrderedTimeCodec($factory->getUuidBuilder());
for ($n = 0; $n < 100; $n++) {
	file_put_contents("$argv[1].new", gmdate("Y-m-d H:i:s\n", 1622505600 + intdiv($n, 4) * 6912000));
	rename("$argv[1].new", $argv[1]);
	echo bin2hex($codec->encodeBinary($factory->uuid1(0x123456789abc, $n))), "\n";
}
END
	env $timed php ramsey.php "$work/clock" |
		put ramsey-ordered "OrderedTimeCodec of ramsey/uuid $(short php-ramsey-uuid): encodeBinary()" "bytea, every 6912000000 ms, time to 1 ms"
fi
if has php; then
	php -r 'for ($n = 0; $n < 100; ) {
		$before = floor(microtime(true) * 1000);
		$id = uniqid();
		if ($before != floor(microtime(true) * 1000)) continue;
		echo $id, "\t", $before, "\n";
		$n++;
	}' |
		put uniqid "uniqid (PHP $(php -r 'echo PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION;')): uniqid()" "text, time in the second column to 1 ms, sorted"
fi

if has dbus-uuidgen; then
	for ((n = 0; n < 100; n++)); do
		date -u -d "@$((1622505600 + n / 4 * 6912000))" '+%Y-%m-%d %H:%M:%S' >clock
		env $timed dbus-uuidgen
	done | put dbus-uuidgen "dbus (D-Bus $(short dbus-bin)): dbus-uuidgen" "text, every 6912000000 ms, time to 1 s"
fi

if has javac; then
	cat >Written.java <<'END'
import java.sql.*;
import java.util.*;

public class Written {
	public static void main(String[] given) throws Exception {
		try (Connection connection = DriverManager.getConnection(given[0], "sa", "")) {
			Scanner in = new Scanner(System.in);
			connection.createStatement().execute("CREATE TABLE t (n int, id UUID)");
			for (int n = 0; in.hasNext(); n++) {
				PreparedStatement insert = connection.prepareStatement("INSERT INTO t VALUES (" + n + ", ?)");
				insert.setObject(1, UUID.fromString(in.next()));
				insert.execute();
			}
			ResultSet rows = connection.createStatement().executeQuery("SELECT CAST(id AS BINARY(16)) FROM t ORDER BY n");
			while (rows.next()) System.out.println(HexFormat.of().formatHex(rows.getBytes(1)));
		}
	}
}
END
	javac Written.java
	for case in 'H2 h2 libh2-java h2.jar' 'HSQLDB hsqldb libhsqldb-java hsqldb.jar'; do
		read -r system name package jar <<<"$case"
		[ -f "/usr/share/java/$jar" ] || continue
		head -n 100 uuids | java -cp "$work:/usr/share/java/$jar" Written "jdbc:$name:mem:t" |
			put "$name" "$system $(short "$package"): CAST(id AS BINARY(16))" "bytea, UUID"
	done
fi

if has isql-fb; then
	{
		echo "CREATE DATABASE '$work/firebird.fdb' USER 'SYSDBA'; CREATE TABLE t (n int, id CHAR(16) CHARACTER SET OCTETS);"
		head -n 100 uuids | awk '{ print "INSERT INTO t VALUES (" NR ", CHAR_TO_UUID(\x27" $0 "\x27));" }'
		echo 'COMMIT; SELECT id FROM t ORDER BY n;'
	} >firebird.sql
	FIREBIRD_LOCK=$work isql-fb -q -i firebird.sql | grep -Eix '[0-9a-f]{32} *' | tr -d ' ' | tr '[:upper:]' '[:lower:]' |
		put firebird "Firebird $(short firebird3.0-server-core): CHAR_TO_UUID(id)" "bytea, UUID"
fi

if has mariadbd; then
	# MariaDB refuses to run as root
	run=()
	[ "$(id -u)" -ne 0 ] || { chown -R mysql "$work"; run=(runuser -u mysql --); }
	"${run[@]}" mariadb-install-db --no-defaults --auth-root-authentication-method=normal --datadir="$work/mariadb" --skip-test-db >mariadb.log 2>&1
	"${run[@]}" mariadbd --no-defaults --datadir="$work/mariadb" --skip-networking --socket="$work/s" --performance-schema=off >>mariadb.log 2>&1 &
	server=$!
	trap 'kill "$server"' EXIT
	for ((n = 0; n < 100; n++)); do [ ! -S "$work/s" ] || break; sleep 0.2; done
	as_mariadb() { mariadb --no-defaults -N -B -S "$work/s" -u root; }
	as_mariadb <<'END' | put mariadb "MariaDB $(short mariadb-server-core) UUID(): id UUID DEFAULT UUID(), ORDER BY id" "uuid, time in the second column to 1 ms, in order"
CREATE DATABASE t; USE t; SET SESSION time_zone = '+00:00';
CREATE TABLE t (id UUID PRIMARY KEY DEFAULT UUID(), ms bigint, after bigint, INDEX (after));
START TRANSACTION;
DELIMITER //
FOR n IN 1 .. 12000 DO
	INSERT INTO t (ms) VALUES (floor(unix_timestamp(sysdate(6)) * 1000));
	UPDATE t SET after = floor(unix_timestamp(sysdate(6)) * 1000) WHERE after IS NULL;
END FOR //
DELIMITER ;
COMMIT;
SELECT id, ms FROM t WHERE after = ms ORDER BY id LIMIT 2000;
END
	{
		echo 'USE t; CREATE TABLE b (n int PRIMARY KEY, id UUID, bytes BINARY(16)); START TRANSACTION;'
		head -n 100 uuids | awk '{ print "INSERT INTO b (n, id) VALUES (" NR ", \x27" $0 "\x27);" }'
		echo 'COMMIT; UPDATE b SET bytes = id; SELECT lower(hex(bytes)) FROM b ORDER BY n;'
	} | as_mariadb | put mariadb-binary "MariaDB $(short mariadb-server-core): bytes BINARY(16) = id" "bytea, UUID"
	echo SHUTDOWN | as_mariadb
	wait "$server"
	trap - EXIT
fi
