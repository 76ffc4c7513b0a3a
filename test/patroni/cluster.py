"""A cluster of Patroni: etcd and three nodes, whose clocks differ."""
import contextlib
import json
import os
import signal
import socket
import subprocess
import time
import urllib.request

import psutil
import psycopg

NODES = 3
TTL = 8  # seconds after which Patroni promotes another node


def free_address():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return f'127.0.0.1:{s.getsockname()[1]}'


def wait_until(what, condition):
    end = time.monotonic() + 180
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f'waited three minutes in vain until {what}')
        time.sleep(0.2)


def start(log, *command, **env):
    return subprocess.Popen(command, env={**os.environ, **env}, stdout=open(log, 'a'), stderr=subprocess.STDOUT)


class Node:
    def __init__(self, folder, etcd, ahead):
        self.folder, self.name = folder, os.path.basename(folder)
        self.address, self.rest = free_address(), free_address()
        self.port = self.address.split(':')[1]
        os.mkdir(folder)
        with open(f'{folder}/clock', 'w') as f:
            f.write(f'by {ahead}')
        user = {'username': 'postgres'}
        settings = {
            'scope': 'test', 'name': self.name, 'etcd3': {'host': etcd},
            'restapi': {'listen': self.rest, 'connect_address': self.rest},
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
                'listen': self.address, 'connect_address': self.address, 'data_dir': f'{folder}/data',
                'bin_dir': subprocess.getoutput('pg_config --bindir'), 'pgpass': f'{folder}/pgpass',
                'remove_data_directory_on_rewind_failure': True,
                'remove_data_directory_on_diverged_timelines': True,
                'authentication': {'superuser': user, 'replication': user, 'rewind': user},
                'parameters': {'unix_socket_directories': folder}},
        }
        with open(f'{folder}/patroni.json', 'w') as f:
            json.dump(settings, f)  # YAML includes JSON

    def start(self):
        self.process = start(f'{self.folder}/log', '/usr/bin/python3', '/usr/bin/patroni', f'{self.folder}/patroni.json',
                             LD_PRELOAD=os.environ['WORLD_LIBRARY'], UUID9562_WORLD=f'{self.folder}/clock')

    def ask(self, path, body=None):
        """Return whether Patroni's REST interface answers with the status 200."""
        request = urllib.request.Request(f'http://{self.rest}/{path}', body, {'Content-Type': 'application/json'})
        with contextlib.suppress(OSError):
            return urllib.request.urlopen(request, timeout=60 if body else 2).status == 200
        return False

    def leads(self):
        return self.ask('leader')

    def has_standbys(self):
        with contextlib.suppress(psycopg.Error), psycopg.connect(host='127.0.0.1', port=self.port, user='postgres', connect_timeout=2) as c:
            return c.execute("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'").fetchone()[0] == NODES - 1
        return False

    def send(self, number):
        """Send a signal to Patroni, to the postmaster and to the postmaster's children."""
        with open(f'{self.folder}/data/postmaster.pid') as f:
            postmaster = psutil.Process(int(f.readline()))
        for process in [self.process, postmaster, *postmaster.children()]:
            with contextlib.suppress(psutil.Error):
                process.send_signal(number)


class Cluster:
    def __init__(self, folder, clocks):
        client, peer = f'http://{free_address()}', f'http://{free_address()}'
        self.etcd = start(
            f'{folder}/etcd.log', 'etcd', '--data-dir', f'{folder}/etcd', '--unsafe-no-fsync',
            '--listen-client-urls', client, '--advertise-client-urls', client,
            '--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', f'default={peer}')
        self.nodes = [Node(f'{folder}/node{n}', client[7:], ahead) for n, ahead in enumerate(clocks)]
        for node in self.nodes:
            node.start()
            if node is self.nodes[0]:
                wait_until('the first node leads', node.leads)
        self.settle()

    def connect(self, target='read-write'):
        ports = ','.join(node.port for node in self.nodes)
        return psycopg.connect(f'host=127.0.0.1,127.0.0.1,127.0.0.1 port={ports} user=postgres dbname=postgres connect_timeout=2 '
                               f'target_session_attrs={target}', autocommit=True)

    def leader(self, other_than=None):
        return next((node for node in self.nodes if node is not other_than and node.leads()), None)

    def settle(self):
        wait_until('the cluster has a leader and streaming standbys', lambda: (leader := self.leader()) and leader.has_standbys())

    def switchover(self, leader):
        leader.ask('switchover', json.dumps({'leader': leader.name}).encode())

    def kill(self, leader):
        """Kill the leader at once, and start it again when another node leads."""
        leader.send(signal.SIGKILL)
        leader.process.wait()
        wait_until('another node leads', lambda: self.leader(leader))
        leader.start()

    def freeze(self, leader):
        """Stop the leader's processes until another node leads, and then let them go on."""
        leader.send(signal.SIGSTOP)
        wait_until('another node leads', lambda: self.leader(leader))
        time.sleep(1)
        leader.send(signal.SIGCONT)
