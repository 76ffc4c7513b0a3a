"""Write and read rows while the leader of a Patroni cluster changes; see scripts/lab/patroni."""
import random
import sys
import threading
import time
from collections import Counter

import psycopg

from cluster import Cluster

WRITERS = 4
CLOCKS = [0, 90, -90]  # seconds by which the clocks of the nodes are ahead
CHANGES = ['switchover', 'kill', 'freeze']

folder, promotions, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
chance = random.Random(seed)
writing = threading.Event()
reading = threading.Event()


class Task(threading.Thread):
    """A thread that repeats a step, on new connections after an error of the server."""

    def __init__(self, cluster, event):
        super().__init__(daemon=True)
        self.cluster, self.event, self.connections, self.errors = cluster, event, {}, Counter()

    def on(self, target):
        if target not in self.connections:
            self.connections[target] = self.cluster.connect(target)
        return self.connections[target]

    def sql(self, statement, parameters, target='read-write'):
        return self.on(target).execute(statement, parameters).fetchall()

    def disconnect(self):
        for connection in self.connections.values():
            connection.close()
        self.connections = {}

    def run(self):
        while self.event.is_set():
            try:
                self.step()
            except psycopg.Error as e:
                self.errors[f'{e.sqlstate}: {str(e).splitlines()[0]}' if e.sqlstate else 'no connection'] += 1
                self.disconnect()
                time.sleep(0.2)
        self.disconnect()


class Writer(Task):
    def step(self):
        """Insert rows in a transaction that ends after a random time."""
        with self.on('read-write').transaction():
            for _ in range(random.randint(1, 3)):
                self.on('read-write').execute('INSERT INTO outbox DEFAULT VALUES')
            time.sleep(random.choice([0, 0, 0, 0.01, 0.05]))


class Reader(Task):
    """A reader of the primary.  Its position and its copies are in the database, or outside."""

    server = 'primary'

    def __init__(self, cluster, inside):
        super().__init__(cluster, reading)
        self.name = f'{self.server}, position {"inside" if inside else "outside"}'
        self.inside, self.position, self.copied = inside, None, Counter()

    def read(self, position):
        """Return the IDs after a position, and the next position."""
        rows = self.sql('SELECT id, uuidv7_position(id, %(position)s) FROM outbox '
                        'WHERE id > uuidv7_after(%(position)s) AND id < uuidv7_horizon() ORDER BY id LIMIT 1000', {'position': position})
        return [id for id, _ in rows], rows[-1][1] if rows else position

    def step(self):
        if not self.inside:
            ids, self.position = self.read(self.position)
            self.copied.update(ids)
        else:
            [[position]] = self.sql('SELECT position FROM place WHERE reader = %s', [self.name])
            ids, following = self.read(position)
            with self.on('read-write').transaction():
                # the primary may have changed since the position was read
                if self.sql('SELECT 1 FROM place WHERE reader = %s AND position IS NOT DISTINCT FROM %s FOR UPDATE', [self.name, position]):
                    self.on('read-write').execute('INSERT INTO copied SELECT %s, unnest(%s::uuid[])', [self.name, ids])
                    self.on('read-write').execute('UPDATE place SET position = %s WHERE reader = %s', [following, self.name])
        if not ids:
            time.sleep(0.02)

    def count(self, primary):
        """Return how often each ID was copied."""
        return dict(primary.execute('SELECT id, count(*) FROM copied WHERE reader = %s GROUP BY id', [self.name])) if self.inside else self.copied


class StandbyReader(Reader):
    server = 'standby'

    def read(self, position):
        [(after, horizon, target, following)] = self.sql(
            'SELECT uuidv7_after(%(position)s), uuidv7_horizon(), target, uuidv7_position(uuidv7_horizon(), %(position)s) '
            'FROM uuid_replay_target()', {'position': position})
        end = time.monotonic() + 3
        while time.monotonic() < end:
            with self.on('standby').transaction():
                if self.sql('SELECT uuid_has_replayed(%s)', [target], 'standby')[0][0]:
                    rows = self.sql('SELECT id FROM outbox WHERE id > %s AND id < %s ORDER BY id', [after, horizon], 'standby')
                    return [id for id, in rows], following
            time.sleep(0.01)
        self.disconnect()  # this standby may follow another branch: try another standby
        return [], position


print(f'seed {seed}', flush=True)
chance.shuffle(CLOCKS)
cluster = Cluster(folder, CLOCKS)
writers = [Writer(cluster, writing) for _ in range(WRITERS)]
readers = [reader(cluster, inside) for reader in (Reader, StandbyReader) for inside in (False, True)]
with cluster.connect() as primary:
    for statement in ['CREATE EXTENSION uuid9562',
                      'CREATE TABLE outbox (id uuid PRIMARY KEY DEFAULT uuidv7_ordered())',
                      'CREATE TABLE place (reader text PRIMARY KEY, position text)',
                      'CREATE TABLE copied (reader text, id uuid)',
                      'INSERT INTO outbox DEFAULT VALUES']:
        primary.execute(statement)
    for reader in readers:
        primary.execute('INSERT INTO place (reader) VALUES (%s)', [reader.name])
cluster.settle()
writing.set()
reading.set()
for task in writers + readers:
    task.start()
for number in range(promotions):
    time.sleep(chance.uniform(0.5, 3))
    how = CHANGES[number] if number < len(CHANGES) else chance.choice(CHANGES)
    getattr(cluster, how)(cluster.leader())
    settles = chance.random() < 0.7  # otherwise the next leader is lost before the cluster has settled
    if not settles:
        time.sleep(chance.uniform(0, 2))
    if settles or cluster.leader() is None:
        cluster.settle()
    print(f'{number + 1}: {how}', flush=True)
cluster.settle()
time.sleep(2)
writing.clear()
for writer in writers:
    writer.join()
time.sleep(10)  # let the readers reach the end
reading.clear()
for reader in readers:
    reader.join()

status = 0
with cluster.connect() as primary:
    rows = {id for id, in primary.execute('SELECT id FROM outbox')}
    timeline, = primary.execute('SELECT timeline_id FROM pg_control_checkpoint()').fetchone()
    print(f'{len(rows)} rows after {promotions} promotions, timeline {timeline}')
    for reader in readers:
        counts = reader.count(primary)
        missed = len(rows - counts.keys())
        again = sum(counts.values()) - len(counts)
        lost = len(counts.keys() - rows)
        print(f'{reader.name}: {missed} missed, {again} delivered twice, {lost} delivered and then lost with a leader')
        for error, count in sorted(reader.errors.items()):
            print(f'    {count} times {error}')
        if missed or len(counts) < promotions:
            status = 1
sys.exit(status)
