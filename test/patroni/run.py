"""Write and read rows while the leader of a Patroni cluster changes; see scripts/lab/patroni."""
import random
import sys
import threading
import time

import psycopg

from cluster import Cluster

WRITERS = 4
CLOCKS = [0, 90, -90]  # seconds by which the clocks of the nodes are ahead

folder, promotions, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
chance = random.Random(seed)
writing = threading.Event()
reading = threading.Event()


class Task(threading.Thread):
    """A thread that repeats a step, on new connections after an error of the server."""

    def __init__(self, name, cluster, event):
        super().__init__(name=name, daemon=True)
        self.cluster, self.event = cluster, event
        self.connections = {}
        self.errors = {}
        self.refused = 0

    def on(self, target):
        if target not in self.connections:
            self.connections[target] = self.cluster.connect(target)
        return self.connections[target]

    def disconnect(self):
        for connection in self.connections.values():
            connection.close()
        self.connections = {}

    def run(self):
        while self.event.is_set():
            try:
                self.step()
            except psycopg.Error as e:
                kind = f'{e.sqlstate}: {str(e).splitlines()[0]}' if e.sqlstate else 'no connection'
                self.errors[kind] = self.errors.get(kind, 0) + 1
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
    """A reader on the primary, whose position is outside the database."""

    def __init__(self, name, cluster):
        super().__init__(name, cluster, reading)
        self.position = None
        self.delivered = {}

    def deliver(self, ids):
        for id in ids:
            self.delivered[id] = self.delivered.get(id, 0) + 1

    def step(self):
        rows = self.on('read-write').execute(
            'SELECT id, uuidv7_position(id, %(position)s) FROM outbox '
            'WHERE id > uuidv7_after(%(position)s) AND id < uuidv7_horizon() ORDER BY id LIMIT 1000',
            {'position': self.position}).fetchall()
        self.deliver(id for id, _ in rows)
        if rows:
            self.position = rows[-1][1]
        else:
            time.sleep(0.02)

    def counts(self, connection):
        return self.delivered


class InsideReader(Reader):
    """A reader on the primary, which copies rows and stores its position in one transaction."""

    def step(self):
        primary = self.on('read-write')
        with primary.transaction():
            position, = primary.execute('SELECT position FROM place WHERE reader = %s FOR UPDATE', [self.name]).fetchone()
            rows = primary.execute(
                'SELECT id, uuidv7_position(id, %(position)s) FROM outbox '
                'WHERE id > uuidv7_after(%(position)s) AND id < uuidv7_horizon() ORDER BY id LIMIT 1000',
                {'position': position}).fetchall()
            if rows:
                self.store(primary, [id for id, _ in rows], rows[-1][1])
        if not rows:
            time.sleep(0.02)

    def store(self, primary, ids, position):
        primary.execute('INSERT INTO copied SELECT %s, unnest(%s::uuid[])', [self.name, ids])
        primary.execute('UPDATE place SET position = %s WHERE reader = %s', [position, self.name])

    def counts(self, connection):
        rows = connection.execute('SELECT id, count(*) FROM copied WHERE reader = %s GROUP BY id', [self.name])
        return dict(rows.fetchall())


class StandbyPages:
    """The steps of a reader on a standby."""

    def read(self, position):
        """Return the IDs after a position and the next position, or None if the standby lags."""
        after, horizon, target, following = self.on('read-write').execute(
            'SELECT uuidv7_after(%(position)s), uuidv7_horizon(), target, uuidv7_position(uuidv7_horizon(), %(position)s) '
            'FROM uuid_replay_target()', {'position': position}).fetchone()
        standby = self.on('standby')
        end = time.monotonic() + 3
        while time.monotonic() < end:
            with standby.transaction():
                if standby.execute('SELECT uuid_has_replayed(%s)', [target]).fetchone()[0]:
                    rows = standby.execute('SELECT id FROM outbox WHERE id > %s AND id < %s ORDER BY id',
                                           [after, horizon]).fetchall()
                    return [id for id, in rows], following
            time.sleep(0.01)
        self.disconnect()  # this standby may follow another branch: try another standby
        return None


class StandbyReader(StandbyPages, Reader):
    """A reader on a standby, whose position is outside the database."""

    def step(self):
        page = self.read(self.position)
        if page is not None:
            self.deliver(page[0])
            self.position = page[1]


class InsideStandbyReader(StandbyPages, InsideReader):
    """A reader on a standby, which copies rows to the primary and stores its position there."""

    def step(self):
        position, = self.on('read-write').execute('SELECT position FROM place WHERE reader = %s', [self.name]).fetchone()
        page = self.read(position)
        if page is None:
            return
        with self.on('read-write').transaction():
            # the primary may have changed since the position was read
            if self.on('read-write').execute('SELECT FROM place WHERE reader = %s AND position IS NOT DISTINCT FROM %s FOR UPDATE',
                                             [self.name, position]).rowcount == 1:
                self.store(self.on('read-write'), *page)


READERS = {
    'primary, position outside': Reader,
    'primary, position inside': InsideReader,
    'standby, position outside': StandbyReader,
    'standby, position inside': InsideStandbyReader,
}


def change_leader(cluster, number):
    """Change the leader once, and return how."""
    leader = cluster.leader()
    how = ['switchover', 'kill', 'freeze'][number % 3] if number < 3 else chance.choice(['switchover', 'kill', 'freeze'])
    getattr(cluster, how)(leader)
    return how


def main():
    print(f'seed {seed}', flush=True)
    clocks = CLOCKS[:]
    chance.shuffle(clocks)
    cluster = Cluster(folder, clocks)
    with cluster.connect() as primary:
        for statement in ['CREATE EXTENSION uuid9562',
                          'CREATE TABLE outbox (id uuid PRIMARY KEY DEFAULT uuidv7_ordered())',
                          'CREATE TABLE place (reader text PRIMARY KEY, position text)',
                          'CREATE TABLE copied (reader text, id uuid)',
                          'INSERT INTO outbox DEFAULT VALUES']:
            primary.execute(statement)
        for name in READERS:
            primary.execute('INSERT INTO place (reader) VALUES (%s)', [name])
    cluster.settle()
    writing.set()
    reading.set()
    writers = [Writer(f'writer {i}', cluster, writing) for i in range(WRITERS)]
    readers = [reader(name, cluster) for name, reader in READERS.items()]
    for task in writers + readers:
        task.start()
    for number in range(promotions):
        time.sleep(chance.uniform(0.5, 3))
        how = change_leader(cluster, number)
        if chance.random() < 0.7:  # sometimes the next leader is lost before the cluster has settled
            cluster.settle()
        else:
            time.sleep(chance.uniform(0, 2))
            cluster.settle() if cluster.leader() is None else None
        print(f'{number + 1}: {how}, now {cluster.leader().name if cluster.leader() else "none"} leads', flush=True)
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
            counts = reader.counts(primary)
            missed = len(rows - counts.keys())
            again = sum(count - 1 for count in counts.values())
            lost = len(counts.keys() - rows)
            print(f'{reader.name}: {missed} missed, {again} delivered twice, {lost} delivered and then lost with a leader')
            for error, count in sorted(reader.errors.items()):
                print(f'    {count} times {error}')
            if missed or len(counts) < promotions:
                status = 1
    cluster.stop()
    return status


sys.exit(main())
