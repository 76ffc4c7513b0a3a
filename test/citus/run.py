"""Write and read distributed tables while servers of a Citus cluster are killed; see scripts/lab/citus."""
import contextlib
import os
import random
import re
import subprocess
import sys
import threading
import time

import psycopg

KILLS = 8  # of the coordinator, and again of workers
COORDINATOR, WORKERS = 23451, [23452, 23453]  # ports

folder, seconds, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
chance = random.Random(seed)


# --- the cluster ---------------------------------------------------------------

def run(*command):
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=folder)


def start(port):
    run('pg_ctl', '-D', f'{folder}/{port}', '-l', f'{folder}/{port}.log', '-w', 'start')


def kill(port):
    run('pg_ctl', '-D', f'{folder}/{port}', '-m', 'immediate', 'stop')


def connect(port=COORDINATOR, user='postgres'):
    return psycopg.connect(host='localhost', port=port, user=user, dbname='postgres', connect_timeout=5, autocommit=True)


def create_cluster():
    for port in [COORDINATOR, *WORKERS]:
        run('initdb', '-D', f'{folder}/{port}', '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync')
        with open(f'{folder}/{port}/postgresql.conf', 'a', encoding='ascii') as conf:
            conf.write(f"port = {port}\nlisten_addresses = 'localhost'\nunix_socket_directories = ''\n"
                       "shared_preload_libraries = 'citus, uuid9562'\nmax_prepared_transactions = 100\n"
                       'citus.enable_statistics_collection = off\n')
            if port in WORKERS:
                conf.write('commit_delay = 50000\ncommit_siblings = 0\n')  # slow commits
        start(port)
        with connect(port) as connection:
            connection.execute('CREATE EXTENSION citus')
    with connect() as connection:
        connection.execute("SELECT citus_set_coordinator_host('localhost', %s)", [COORDINATOR])
        for port in WORKERS:
            connection.execute("SELECT citus_add_node('localhost', %s)", [port])
        for statement in [
                'CREATE EXTENSION uuid9562',
                'SET citus.shard_count = 8',
                'CREATE TABLE events (tenant int, id uuid DEFAULT uuidv7_next(), PRIMARY KEY (tenant, id))',
                'CREATE INDEX ON events (id)',
                "SELECT create_distributed_table('events', 'tenant')",
                'ALTER TABLE events ALTER COLUMN id SET DEFAULT uuidv7_ordered()',
                'CREATE TABLE source (tenant int, n int)',
                "SELECT create_distributed_table('source', 'tenant')",
                'INSERT INTO source SELECT n % 7, n FROM generate_series(1, 700) AS n',
                'CREATE TABLE single (id uuid PRIMARY KEY DEFAULT uuidv7_ordered())',
                "SELECT create_distributed_table('single', NULL)",
                'SET citus.enable_schema_based_sharding = on',
                'CREATE SCHEMA shop',
                'CREATE TABLE shop.events (id uuid PRIMARY KEY DEFAULT uuidv7_ordered())',
                'CREATE TABLE routed (tenant int, id uuid DEFAULT uuidv7_ordered())',
                "SELECT create_distributed_table('routed', 'tenant')",
                'CREATE ROLE app LOGIN',
                'GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA public TO app',
                'INSERT INTO events VALUES (1)']:
            connection.execute(statement)


# --- writers and readers --------------------------------------------------------

class Task(threading.Thread):
    """A thread that repeats a step, on a new connection after an error of the server."""

    def __init__(self, **connection):
        super().__init__(daemon=True)
        self.target = connection
        self.running = threading.Event()
        self.warned = False
        self.errors = 0

    def run(self):
        connection = None
        while self.running.is_set():
            try:
                if connection is None:
                    connection = connect(**self.target)
                    connection.add_notice_handler(self.notice)
                self.step(connection)
            except psycopg.Error as e:
                self.failed(e)
                if connection is not None:
                    connection.close()
                connection = None
                time.sleep(0.1)

    def notice(self, diagnostic):
        self.warned = self.warned or diagnostic.severity_nonlocalized == 'WARNING'

    def failed(self, error):
        self.errors += 1


class Writer(Task):
    def step(self, connection):
        """Insert rows into several shards or into one, in a transaction that ends after a random time."""
        tenant = random.randint(2, 1000)
        with connection.transaction():
            kind = random.randint(1, 4)
            if kind == 1:
                connection.execute('INSERT INTO events VALUES (1), (%s), (%s)', [tenant, tenant + 1])
                connection.execute('INSERT INTO events VALUES (%s)', [tenant + 2])
            elif kind == 2:
                connection.execute('INSERT INTO events VALUES (1)')
            elif kind == 3:
                connection.execute('INSERT INTO single DEFAULT VALUES')
                connection.execute('INSERT INTO shop.events DEFAULT VALUES')
                connection.execute('INSERT INTO events VALUES (%s)', [tenant])
            else:
                connection.execute('INSERT INTO events (tenant) WITH s AS MATERIALIZED (SELECT n %% 3 AS tenant FROM source WHERE n <= 4) '
                                   'SELECT tenant FROM s')
            time.sleep(random.choice([0, 0, 0.02]))


class Router(Task):
    """A writer that is usually connected to a worker."""

    accepted = refused = 0

    def step(self, connection):
        connection.execute('INSERT INTO routed VALUES (%s), (%s)', [random.randint(1, 1000), random.randint(1, 1000)])
        self.accepted += 1

    def failed(self, error):
        if isinstance(error, psycopg.errors.InsufficientPrivilege):
            self.refused += 1
        else:
            super().failed(error)


class Reader(Task):
    """A reader with the four statements of doc/servers.md."""

    TERMINATE = re.search(r'^SELECT bool_and.*?;$', open(f'{os.path.dirname(__file__)}/servers.md', encoding='utf-8').read(), re.M | re.S)[0]

    def __init__(self, table, condition='true'):
        super().__init__()
        self.rows = f'{table} WHERE {condition}'
        self.position = None
        self.delivered = {}
        self.pages = 0
        self.warnings = 0

    def step(self, connection):
        self.warned = False
        ids = self.read(connection)
        if self.warned:
            self.warnings += 1
        if ids is not None:
            self.pages += 1
            for id in ids:
                self.delivered[id] = self.delivered.get(id, 0) + 1
        time.sleep(0.05)

    def read(self, connection):
        after, horizon, position = connection.execute(
            'SELECT uuidv7_after(%(position)s), uuidv7_horizon(), uuidv7_position(uuidv7_horizon(), %(position)s)',
            {'position': self.position}).fetchone()
        finished, = connection.execute(self.TERMINATE).fetchone()
        connection.execute('SELECT recover_prepared_transactions()')
        if self.warned or finished is False:
            return None
        ids = connection.execute(f'SELECT id FROM {self.rows} AND id > %s AND id < %s ORDER BY id', [after, horizon]).fetchall()
        self.position = position
        return [id for id, in ids]


class OneStatementReader(Reader):
    """A reader that does not finish prepared transactions."""

    def read(self, connection):
        rows = connection.execute(
            f'WITH page AS MATERIALIZED (SELECT id FROM {self.rows}'
            ' AND id > (SELECT uuidv7_after(%(position)s)) AND id < (SELECT uuidv7_horizon()) ORDER BY id LIMIT 1000) '
            'SELECT id, uuidv7_position(id, %(position)s) FROM page ORDER BY id', {'position': self.position}).fetchall()
        if rows:
            self.position = rows[-1][1]
        return [id for id, _ in rows]


def begin(tasks):
    for task in tasks:
        task.running.set()
        task.start()


def end(tasks):
    for task in tasks:
        task.running.clear()
    for task in tasks:
        task.join()


def finish(readers):
    """Let each reader read to its end: begin and finish two pages after the last commit."""
    for reader in readers:
        pages = reader.pages
        limit = time.monotonic() + 60
        while reader.pages < pages + 3 and time.monotonic() < limit:
            time.sleep(0.1)
    end(readers)


def settle(connection):
    """Finish all prepared transactions."""
    for _ in range(100):
        connection.execute('SELECT recover_prepared_transactions()')
        left = connection.execute("SELECT result FROM run_command_on_workers('SELECT count(*) FROM pg_prepared_xacts')")
        if all(count == '0' for count, in left):
            return
        time.sleep(0.1)
    raise RuntimeError('prepared transactions remain')


def result(name, reader, connection):
    """Print what a reader missed, and return how many rows it missed or should not have got."""
    rows = {id for id, in connection.execute(f'SELECT id FROM {reader.rows}')}
    missed, unknown = len(rows - reader.delivered.keys()), len(reader.delivered.keys() - rows)
    again = sum(count - 1 for count in reader.delivered.values())
    print(f'{name}: {len(rows)} rows, {missed} missed, {again} delivered twice, {unknown} unknown; '
          f'{reader.pages} pages, {reader.warnings} warnings, {reader.errors} errors', flush=True)
    if reader.pages < 10 or not rows:
        print('    the reader has not read enough')
        return 1
    return missed + unknown + again


# --- the steps ------------------------------------------------------------------

def try_insert_select():
    """Check that an INSERT ... SELECT is refused, and that both ways of its hint give an ID to each row."""
    with connect() as connection:
        try:
            connection.execute('INSERT INTO events (tenant) SELECT tenant FROM source')
            raise RuntimeError('INSERT ... SELECT is not refused')
        except psycopg.errors.FeatureNotSupported as e:
            hint = e.diag.message_hint
        print(hint)
        assert 'WITH s AS MATERIALIZED' in hint and 'temporary table' in hint
        connection.execute('CREATE TEMPORARY TABLE t AS SELECT tenant FROM source WHERE tenant = 3')
        bad = 0
        for way, expected in [('WITH s AS MATERIALIZED (SELECT tenant FROM source) SELECT tenant FROM s', 700),
                              ('SELECT tenant FROM t', 100)]:
            lowest, before = connection.execute('SELECT uuidv7_ordered(), generated FROM uuid_generator_stats() LIMIT 1').fetchone()
            connection.execute(f'INSERT INTO events (tenant) {way}')
            rows, ids = connection.execute('SELECT count(*), count(DISTINCT id) FROM events WHERE id > %s', [lowest]).fetchone()
            print(f'INSERT ... {way}: {rows} rows, {ids} IDs')
            bad += (rows, ids) != (expected, expected)
        generated = connection.execute("SELECT sum(result::int) FROM run_command_on_workers('SELECT sum(generated) FROM uuid_generator_stats()')")
        on_workers, = generated.fetchone()
        print(f'{on_workers} IDs generated by workers')
        return bad + (on_workers != 0)


def try_routers(before_revoke):
    """Write through workers and the coordinator for ten seconds, and read."""
    routers, reader = [Router(port=port, user='app') for port in WORKERS * 2], Reader('routed')
    writer = Router(user='app')
    begin([reader, writer, *routers])
    time.sleep(10)
    end(routers)
    time.sleep(1)  # the coordinator must generate IDs that are greater than those of the workers
    end([writer])
    finish([reader])
    with connect() as connection:
        accepted, refused = sum(router.accepted for router in routers), sum(router.refused for router in routers)
        print(f'workers as routers: {accepted} transactions accepted, {refused} refused; coordinator: {writer.accepted} accepted')
        bad = result('workers as routers', reader, connection)
        return 0 if before_revoke else bad + accepted + (refused == 0)


def try_waiting_commit():
    """Kill the coordinator while the commit of a row waits on a worker, and read before it is visible."""
    worker, tenant = WORKERS[0], 0
    with connect() as connection:
        connection.execute('TRUNCATE events')
        while connection.execute("SELECT nodeport FROM citus_shards WHERE shardid = get_shard_id_for_distribution_column('events', %s)",
                                 [tenant]).fetchone()[0] != worker:
            tenant += 1
    with connect(worker) as connection:
        connection.execute("ALTER SYSTEM SET synchronous_standby_names = 'missing'")
        connection.execute('SELECT pg_reload_conf()')
    writer = threading.Thread(target=insert_until_killed, args=[tenant])
    writer.start()
    with connect(worker) as connection:
        while not connection.execute("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name LIKE 'citus%'").fetchone()[0]:
            time.sleep(0.1)
        kill(COORDINATOR)
        writer.join()
        start(COORDINATOR)
        waits, = connection.execute("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'").fetchone()
        reader = Reader('events')
        begin([reader])
        time.sleep(15)  # for ten seconds, the reader also terminates new connections
        connection.execute('ALTER SYSTEM RESET synchronous_standby_names')
        connection.execute('SELECT pg_reload_conf()')
    time.sleep(1)
    with connect() as connection:
        connection.execute('INSERT INTO events VALUES (%s)', [tenant])
        finish([reader])
        print(f'{waits} commits waited after the start of the coordinator')
        return result('a commit that waits on a worker', reader, connection) + (waits != 1)


def insert_until_killed(tenant):
    with contextlib.suppress(psycopg.Error), connect() as connection:
        connection.execute('INSERT INTO events VALUES (%s)', [tenant])


def kill_servers():
    """Kill servers in random order at random times."""
    victims = [COORDINATOR] * KILLS + [chance.choice(WORKERS) for _ in range(KILLS)]
    chance.shuffle(victims)
    begun = time.monotonic()
    for number, port in enumerate(victims):
        time.sleep(max(0.5, begun + seconds * (number + chance.random()) / len(victims) - time.monotonic()))
        kill(port)
        time.sleep(chance.choice([0, 0.3]))
        start(port)
    time.sleep(max(1, begun + seconds - time.monotonic()))


def try_kills():
    """Write and read while servers are killed."""
    with connect() as connection:
        connection.execute('TRUNCATE events')
    readers = {'all tenants': Reader('events'), 'one tenant': Reader('events', 'tenant = 1'),
               'single-shard table': Reader('single'), 'sharded schema': Reader('shop.events')}
    other = OneStatementReader('events')
    writers = [Writer() for _ in range(6)]
    begin([*readers.values(), other, *writers])
    kill_servers()
    end(writers)
    time.sleep(12)  # until then, the readers also terminate new connections
    with connect() as connection:
        settle(connection)
        finish([*readers.values(), other])
        bad = sum(result(name, reader, connection) for name, reader in readers.items())
        result('all tenants, in one statement', other, connection)
    return bad


def main():
    print(f'seed {seed}', flush=True)
    create_cluster()
    bad = try_insert_select()
    print('\nwith EXECUTE on uuidv7_ordered() on the workers', flush=True)
    bad += try_routers(True)
    with connect() as connection:
        connection.execute('TRUNCATE routed')
        connection.execute('SELECT run_command_on_workers($$SET citus.enable_ddl_propagation = off; '
                           'REVOKE EXECUTE ON FUNCTION uuidv7_ordered() FROM PUBLIC$$)')
    print('\nafter REVOKE', flush=True)
    bad += try_routers(False)
    print('\na crash of the coordinator during a commit', flush=True)
    bad += try_waiting_commit()
    print(f'\n{KILLS} kills of the coordinator and {KILLS} of workers', flush=True)
    bad += try_kills()
    return bad != 0


try:
    status = main()
finally:
    for port in [COORDINATOR, *WORKERS]:
        with contextlib.suppress(subprocess.CalledProcessError):
            if os.path.exists(f'{folder}/{port}'):
                kill(port)
sys.exit(status)
