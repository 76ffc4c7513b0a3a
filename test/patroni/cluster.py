"""A cluster of Patroni: etcd and three nodes, whose clocks differ."""
import json
import os
import signal
import socket
import subprocess
import time
import urllib.request

import psycopg

NODES = 3
TTL = 8  # seconds after which Patroni promotes another node


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def wait_until(what, condition, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.2)
    raise SystemExit(f'waited {seconds} seconds in vain until {what}')


class Node:
    def __init__(self, cluster, number, ahead):
        self.cluster, self.name = cluster, f'node{number}'
        self.folder = f'{cluster.folder}/{self.name}'
        self.port, self.rest = free_port(), free_port()
        self.process = None
        os.mkdir(self.folder)
        self.clock = f'{self.folder}/clock'
        with open(self.clock, 'w') as f:
            f.write(f'by {ahead}')

    def configure(self):
        settings = {
            'scope': 'test', 'name': self.name,
            'restapi': {'listen': f'127.0.0.1:{self.rest}', 'connect_address': f'127.0.0.1:{self.rest}'},
            'etcd3': {'host': f'127.0.0.1:{self.cluster.etcd_port}'},
            'bootstrap': {
                'dcs': {
                    'ttl': TTL, 'loop_wait': 2, 'retry_timeout': 3,
                    'maximum_lag_on_failover': 1 << 40,
                    'postgresql': {'use_pg_rewind': True, 'use_slots': False, 'parameters': {
                        'shared_preload_libraries': 'uuid9562', 'wal_log_hints': 'on', 'hot_standby': 'on',
                        'max_connections': 60, 'wal_keep_size': '2GB', 'synchronous_commit': 'local',
                        'max_prepared_transactions': 10}}},
                'initdb': [{'encoding': 'UTF8'}, {'locale': 'C'}, 'data-checksums'],
                'pg_hba': ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust']},
            'postgresql': {
                'listen': f'127.0.0.1:{self.port}', 'connect_address': f'127.0.0.1:{self.port}',
                'data_dir': f'{self.folder}/data', 'bin_dir': self.cluster.bindir,
                'pgpass': f'{self.folder}/pgpass',
                'remove_data_directory_on_rewind_failure': True,
                'remove_data_directory_on_diverged_timelines': True,
                'authentication': {'superuser': {'username': 'postgres'}, 'replication': {'username': 'postgres'},
                                   'rewind': {'username': 'postgres'}},
                'parameters': {'unix_socket_directories': self.folder}},
        }
        with open(f'{self.folder}/patroni.json', 'w') as f:
            json.dump(settings, f)  # YAML includes JSON

    def start(self):
        env = dict(os.environ, LD_PRELOAD=os.environ['WORLD_LIBRARY'], UUID9562_WORLD=self.clock, no_proxy='*')
        self.process = subprocess.Popen(
            ['/usr/bin/python3', '/usr/bin/patroni', f'{self.folder}/patroni.json'], env=env, start_new_session=True,
            stdout=open(f'{self.folder}/log', 'a'), stderr=subprocess.STDOUT)

    def role(self):
        try:
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(f'http://127.0.0.1:{self.rest}/patroni', timeout=2) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as e:
            return json.load(e)
        except OSError:
            return {}

    def is_leader(self):
        state = self.role()
        return state.get('role') in ('master', 'primary') and state.get('state') == 'running'

    def is_streaming(self):
        state = self.role()
        return state.get('role') == 'replica' and state.get('state') in ('running', 'streaming') and \
            state.get('replication_state', 'streaming') == 'streaming'

    def postmaster(self):
        with open(f'{self.folder}/data/postmaster.pid') as f:
            return int(f.readline())

    def pids(self):
        """Return Patroni's process, the postmaster and the postmaster's children."""
        pids = [self.process.pid, self.postmaster()]
        children = subprocess.run(['ps', '-o', 'pid=', '--ppid', str(pids[1])], capture_output=True, text=True).stdout
        return pids + [int(pid) for pid in children.split()]

    def send(self, pids, number):
        for pid in pids:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass


class Cluster:
    def __init__(self, folder, clocks):
        self.folder = folder
        self.bindir = subprocess.run(['pg_config', '--bindir'], capture_output=True, text=True, check=True).stdout.strip()
        self.etcd_port = free_port()
        peer = f'http://127.0.0.1:{free_port()}'
        self.etcd = subprocess.Popen(
            ['etcd', '--data-dir', f'{folder}/etcd', '--listen-client-urls', f'http://127.0.0.1:{self.etcd_port}',
             '--advertise-client-urls', f'http://127.0.0.1:{self.etcd_port}', '--listen-peer-urls', peer,
             '--initial-advertise-peer-urls', peer, '--initial-cluster', f'default={peer}', '--unsafe-no-fsync'],
            stdout=open(f'{folder}/etcd.log', 'w'), stderr=subprocess.STDOUT)
        self.nodes = [Node(self, number, clocks[number]) for number in range(NODES)]
        for node in self.nodes:
            node.configure()
            node.start()
            if node is self.nodes[0]:
                wait_until('the first node leads', node.is_leader)
        self.settle()

    def conninfo(self, target):
        hosts = ','.join('127.0.0.1' for _ in self.nodes)
        ports = ','.join(str(node.port) for node in self.nodes)
        return f'host={hosts} port={ports} user=postgres dbname=postgres target_session_attrs={target} connect_timeout=2'

    def connect(self, target='read-write'):
        return psycopg.connect(self.conninfo(target), autocommit=True)

    def leader(self):
        return next((node for node in self.nodes if node.is_leader()), None)

    def is_settled(self):
        leader = self.leader()
        if leader is None or not all(node is leader or node.is_streaming() for node in self.nodes):
            return False
        try:
            with psycopg.connect(host='127.0.0.1', port=leader.port, user='postgres', dbname='postgres', connect_timeout=2) as c:
                return c.execute("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'").fetchone()[0] == NODES - 1
        except psycopg.Error:
            return False

    def settle(self):
        wait_until('the cluster has a leader and streaming standbys', self.is_settled, 180)

    def switchover(self, leader):
        body = json.dumps({'leader': leader.name}).encode()
        request = urllib.request.Request(f'http://127.0.0.1:{leader.rest}/switchover', body, {'Content-Type': 'application/json'})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            opener.open(request, timeout=60).read()
        except OSError as e:
            print('  switchover:', e)

    def kill(self, leader):
        """Kill the leader at once, and start it again when another node leads."""
        leader.send(leader.pids(), signal.SIGKILL)
        leader.process.wait()
        wait_until('another node leads', lambda: self.leader() not in (None, leader))
        leader.start()

    def freeze(self, leader):
        """Stop the leader's processes until another node leads, and then let them go on."""
        pids = leader.pids()
        leader.send(pids, signal.SIGSTOP)
        wait_until('another node leads', lambda: any(n is not leader and n.is_leader() for n in self.nodes))
        time.sleep(1)
        leader.send(pids, signal.SIGCONT)

    def stop(self):
        for node in self.nodes:
            node.send([node.process.pid], signal.SIGTERM)
        for node in self.nodes:
            try:
                node.process.wait(30)
            except subprocess.TimeoutExpired:
                node.send([node.process.pid], signal.SIGKILL)
        self.etcd.terminate()
        self.etcd.wait()
