"""PostgreSQL, nodes of Backscroll and HAProxy on this machine, for scripts/cluster and scripts/test-cluster.

The processes are in sessions of their own, so that Ctrl-C reaches only the script, which stops them in order. If the script is
killed, the kernel stops them.
"""

import contextlib
import http.client
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HAPROXY = ROOT / "docs/cluster/haproxy.cfg"
COMPOSE = ROOT / "docs/cluster/compose.yaml"
# Debian installs servers in directories that only root has in its PATH.
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"
DEADLINE = 60  # seconds until something that should happen must have


class Failed(Exception):
    """A failure that the user can correct, in one sentence."""


def free_port(host="127.0.0.1"):
    """A free port."""
    with socket.create_server((host, 0)) as listener:
        return listener.getsockname()[1]


def wait_until(holds, what, seconds=DEADLINE):
    """Waits until a function returns something true, and returns that."""
    end = time.monotonic() + seconds
    while not (result := holds()):
        if time.monotonic() > end:
            raise Failed(f"still waiting after {seconds} s: {what}")
        time.sleep(0.02)
    return result


class Process:
    """A process that is started, stopped and started again, with its log in a file."""

    def __init__(self, name, directory):
        self.name = name
        self.log = pathlib.Path(directory) / f"{name}.log"
        self.process = None

    def spawn(self, command, prefix=(), as_user=(), **options):
        # The kernel sends the signal when this script ends for any reason.
        command = [*prefix, "setpriv", *as_user, "--pdeathsig", "TERM", *map(str, command)]
        environment = dict(os.environ, PATH=PATH) | options.pop("environment", {})
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stderr=log, start_new_session=True, env=environment,
                **{"stdout": log} | options)

    @property
    def runs(self):
        return self.process is not None and self.process.poll() is None

    def send(self, number):
        if self.runs:
            self.process.send_signal(number)

    def stop(self, number=signal.SIGTERM):
        """Sends a signal, and waits until the process has ended."""
        if self.process is None:
            return
        self.send(number)
        if number != signal.SIGKILL:
            # A stopped process (SIGSTOP) handles no other signal.
            self.send(signal.SIGCONT)
        try:
            self.process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def failure(self):
        """The last lines of the log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-10:]) if self.log.exists() else ""


class Postgres(Process):
    """A PostgreSQL server of Debian's package. It listens on a UNIX socket, and on a TCP port of each of `addresses`.

    Its data is in `data`, which is created if it does not exist. With `primary` it is a standby of that server, which must run.
    """

    def __init__(self, directory, data=None, addresses=(), name="postgresql", primary=None, settings=()):
        super().__init__(name, directory)
        self.directory = pathlib.Path(directory) / name
        self.settings = list(settings)
        self.data = pathlib.Path(data).resolve() if data else self.directory / "data"
        self.addresses = list(addresses)
        self.port = free_port(self.addresses[0]) if self.addresses else 5432
        programs = sorted(
            pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: float(path.parts[4]))
        if not programs:
            raise Failed("there is no PostgreSQL in /usr/lib/postgresql; run scripts/install --cluster")
        self.programs = programs[-1].parent
        self.user = []
        owner = None
        if os.geteuid() == 0:
            # PostgreSQL refuses to run as root.
            try:
                owner = pwd.getpwnam("postgres")
            except KeyError:
                owner = pwd.getpwnam("nobody")
            self.user = ["--reuid", str(owner.pw_uid), "--regid", str(owner.pw_gid), "--clear-groups"]
        self.directory.mkdir()
        made = [self.directory]
        if not self.data.exists():
            self.data.mkdir(parents=True, mode=0o700)
            made.append(self.data)
        if owner:
            for path in made:
                os.chown(path, owner.pw_uid, owner.pw_gid)
        if not (self.data / "PG_VERSION").exists():
            if primary:
                self.copy(primary)
            else:
                self.initialize()

    def initialize(self):
        if any(self.data.iterdir()):
            raise Failed(f"{self.data} holds other files; give --data an empty or a new directory")
        command = ["setpriv", *self.user, self.programs / "initdb", "--pgdata", self.data, "--username", "postgres",
                   "--auth", "trust", "--locale", "C", "--encoding", "UTF8"]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode:
            raise Failed(f"initdb failed: {result.stderr.strip()}")
        # Only scripts/test-cluster gives addresses, those of networks that it has made.
        with (self.data / "pg_hba.conf").open("a") as file:
            file.writelines(f"host all all {address}/24 trust\n" for address in self.addresses)

    def copy(self, primary):
        """Makes the data of a standby, which replicates under the server's name."""
        command = ["setpriv", *self.user, self.programs / "pg_basebackup", "--pgdata", self.data, "--write-recovery-conf",
                   "--checkpoint", "fast", "--no-sync", "--dbname",
                   f"host={primary.directory} port={primary.port} user=postgres application_name={self.name}"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)
        if result.returncode:
            raise Failed(f"pg_basebackup failed: {result.stderr.strip()}")

    def start(self):
        settings = [f"unix_socket_directories={self.directory}", f"listen_addresses={','.join(self.addresses)}",
                    f"port={self.port}", "max_connections=200", *self.settings]
        self.spawn(
            [self.programs / "postgres", "-D", self.data, *(word for setting in settings for word in ("-c", setting))],
            as_user=self.user)

        def is_ready():
            if not self.runs:
                raise Failed(f"PostgreSQL ended:\n{self.failure()}")
            command = [self.programs / "pg_isready", "--quiet", "--host", self.directory, "--port", str(self.port)]
            return subprocess.run(command).returncode == 0

        wait_until(is_ready, "PostgreSQL accepts no connections")

    def url(self, database, host=None):
        where = f"postgres@{host}:{self.port}/{database}" if host else f"/{database}?host={self.directory}&port={self.port}"
        return f"postgres://{where}" + ("" if host else "&user=postgres")

    def query(self, sql, database="backscroll"):
        """The rows of a statement's result, as lists of texts."""
        result = subprocess.run(
            [self.programs / "psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--field-separator", "\t",
             "--set", "ON_ERROR_STOP=1", "--command", sql, self.url(database)],
            capture_output=True, text=True, timeout=DEADLINE)
        if result.returncode:
            raise Failed(f"{sql}: {result.stderr.strip()}")
        return [line.split("\t") for line in result.stdout.splitlines()]

    def create(self, database):
        """Creates a database, unless there is one of this name."""
        if not self.query(f"SELECT 1 FROM pg_database WHERE datname = '{database}'", "postgres"):
            self.query(f"CREATE DATABASE {database}", "postgres")

    def stop(self, number=signal.SIGINT):
        super().stop(number)


class Node(Process):
    """A node, on a port that it keeps when it is started again."""

    def __init__(self, number, program, database, directory, host="127.0.0.1", prefix=(), options=()):
        super().__init__(f"node{number}", directory)
        self.command = [program, "serve", "--database", database, "--log-level", "warning", *options]
        self.host = host
        self.port = 0
        self.prefix = prefix

    def start(self, wait=True):
        # The variables of the nodes in compose.yaml, except their addresses and that of the database.
        settings = dict(re.findall(r'^      (BACKSCROLL_\w+): "?([^"\n]*)"?$', COMPOSE.read_text(), re.M))
        del settings["BACKSCROLL_DATABASE"]
        settings["BACKSCROLL_TRUST_PROXY"] += ",127.0.0.0/8"
        self.spawn(
            [*self.command, "--host", self.host, "--port", self.port], self.prefix, environment=settings,
            stdout=subprocess.PIPE, text=True)
        if wait:
            self.await_start()

    def await_start(self):
        line = self.process.stdout.readline()
        if not line.startswith("listening on "):
            self.process.wait()
            raise Failed(f"{self.name} did not start:\n{self.failure()}")
        self.port = int(line.rstrip("/\n").rpartition(":")[2])

    @property
    def url(self):
        return f"http://{self.host}:{self.port}"

    def readiness(self):
        """The status of /readyz, or None without an answer."""
        try:
            connection = http.client.HTTPConnection(self.host, self.port, timeout=2)
            with contextlib.closing(connection):
                connection.request("GET", "/readyz")
                return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return None


class Balancer(Process):
    """HAProxy with docs/cluster/haproxy.cfg, whose addresses are replaced."""

    def __init__(self, nodes, directory, port=0, program="haproxy"):
        super().__init__("balancer", directory)
        if not shutil.which(program, path=PATH):
            raise Failed("there is no haproxy; run scripts/install --cluster")
        self.program = shutil.which(program, path=PATH)
        self.port = port or free_port()
        self.nodes = nodes
        self.file = pathlib.Path(directory) / "haproxy.cfg"

    def start(self):
        text, count = re.subn(r"^    bind .*$", f"    bind 127.0.0.1:{self.port}", HAPROXY.read_text(), flags=re.M)
        assert count == 1
        servers = "".join(f"    server {node.name} {node.host}:{node.port}\n" for node in self.nodes)
        text, count = re.subn(r"(^    server .*\n)+", servers, text, flags=re.M)
        assert count == 1
        self.file.write_text(text)
        self.spawn([self.program, "-db", "-f", self.file])

        def answers():
            if not self.runs:
                raise Failed(f"HAProxy ended. Is port {self.port} in use?\n{self.failure()}")
            with contextlib.suppress(OSError):
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
                with contextlib.closing(connection):
                    connection.request("GET", "/readyz")
                    return connection.getresponse().status == 200

        wait_until(answers, "the balancer finds no ready node")

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"


class Cluster:
    """PostgreSQL, nodes and a balancer."""

    def __init__(self, program, directory, nodes=3, data=None, port=0, options=(), database="backscroll"):
        self.postgres = Postgres(directory, data)
        self.nodes = [
            Node(number, program, self.postgres.url(database), directory, options=options)
            for number in range(1, nodes + 1)
        ]
        self.balancer = Balancer(self.nodes, directory, port)
        self.database = database

    def start(self):
        self.postgres.start()
        self.postgres.create(self.database)
        for node in self.nodes:
            node.start()
        self.balancer.start()

    def stop(self):
        self.balancer.stop()
        for node in self.nodes:
            node.stop()
        self.postgres.stop()

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()
