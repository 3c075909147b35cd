import CPostgreSQL
import Glibc
import Synchronization

/// A PostgreSQL server of Debian's package, in a temporary directory.
///
/// It listens on a UNIX socket in that directory, and on request also on a port of 127.0.0.1. It runs as another user if the
/// tests run as root, which PostgreSQL refuses. A process of its own stops the server and removes the directory as soon as
/// this process has ended, however it ended.
///
/// Most tests share one server, ``shared()``, and have a database each. A test that stops the server or its backends has one of its
/// own.
///
/// Sendable because `server` is accessed under the mutex only, and the other properties do not change.
public final class TestPostgres: @unchecked Sendable {
    /// False with `BACKSCROLL_TEST_POSTGRES=off`, for machines without PostgreSQL. Tests that need it are then disabled.
    public static let isEnabled = getenv("BACKSCROLL_TEST_POSTGRES").map { String(cString: $0) } != "off"

    /// True with `BACKSCROLL_TEST_STORE=postgres`: the tests of the log's contract and of the server run on PostgreSQL instead
    /// of SQLite.
    public static let isTestedStore = getenv("BACKSCROLL_TEST_STORE").map { String(cString: $0) } == "postgres"

    /// The server that tests of this process share.
    private static let common = Result<TestPostgres, any Error> { try TestPostgres() }
    /// The server of the tests that run on either store.
    private static let ofContract = Result<TestPostgres, any Error> {
        // With hundreds of databases, autovacuum's workers would take a sixth of a processor, most of it to begin.
        try TestPostgres(settings: ["fsync": "off", "autovacuum": "off"])
    }

    /// Returns the server that tests of this process share. The first call starts it.
    public static func shared() throws -> TestPostgres {
        try common.get()
    }

    /// Returns the server of the tests that run on either store. The first call starts it.
    ///
    /// It does not wait for the disk, which makes a new database in a sixth of the time. So logs and servers must permit an
    /// unsafe database.
    public static func contract() throws -> TestPostgres {
        try ofContract.get()
    }

    /// The way in which a server stops.
    public enum StopMode: Sendable {
        /// It ends its connections and writes everything to its files.
        case fast
        /// It aborts, as in a crash. The next start recovers what was committed.
        case immediate

        fileprivate var signal: Int32 { self == .fast ? SIGINT : SIGQUIT }
    }

    /// The directory of the socket, and of the data.
    public let directory: String
    /// The port of 127.0.0.1, or `nil` if the server listens on its socket only.
    public var port: Int? { reserved?.number }
    private let reserved: ReservedPort?

    /// The number in the socket's name, if there is no port.
    private static let defaultPort = 5432

    private let programs: String
    private let user: User
    private let settings: [String: String]
    /// The writing end of a pipe. The process that removes the server waits for it to be closed.
    private let lifeline: Int32
    // pthread's objects must not move, so it is allocated once and freed with this value.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    /// The process id of the running server, or `nil`.
    private var server: pid_t?
    private var databaseCount = 0
    /// The name of the database that others begin as copies of, once there is one.
    private let template = Mutex<String?>(nil)

    /// Creates a server and starts it.
    ///
    /// - Parameters:
    ///   - isOnTCP: Makes it listen on a port of 127.0.0.1, too.
    ///   - settings: More settings, as in `postgresql.conf`.
    public init(isOnTCP: Bool = false, settings: [String: String] = [:]) throws {
        programs = try Self.findPrograms()
        user = try User.unprivileged()
        directory = try Self.makeDirectory(user)
        reserved = isOnTCP ? try ReservedPort() : nil
        self.settings = settings
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        lifeline = try Self.watch(directory)
        try run(
            "setpriv",
            user.options + [
                "\(programs)/initdb", "--pgdata", data, "--username", "postgres", "--auth", "trust", "--locale", "C",
                "--encoding", "UTF8", "--no-sync",
            ])
        try start()
    }

    deinit {
        // The watching process removes the directory when the server's process is gone, for which it must be waited for here.
        stop(.immediate)
        close(lifeline)
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    private var data: String { "\(directory)/data" }

    // MARK: Databases

    /// Returns the URL of a database, for libpq.
    public func url(of database: String) -> String {
        "postgres:///\(database)?host=\(directory)&port=\(port ?? Self.defaultPort)&user=postgres"
    }

    /// Returns the URL of a database by the TCP port.
    ///
    /// Only for a server that listens on one.
    public func tcpURL(of database: String) -> String {
        "postgres://postgres@127.0.0.1:\(port!)/\(database)"
    }

    /// Creates a database with a name of its own, empty or as a copy of `template`, to which nobody may be connected.
    ///
    /// - Returns: Its name.
    public func createDatabase(from template: String = "template0") throws -> String {
        let name = locked {
            databaseCount += 1
            return "test\(databaseCount)"
        }
        // File by file takes half the processor time of the default, which goes through the log. Versions before 15 know no other way.
        let strategy = Self.version(of: programs) >= 15 ? "STRATEGY file_copy" : ""
        try query("CREATE DATABASE \(name) TEMPLATE \(template) \(strategy)")
        return name
    }

    /// Creates a database with the tables of Backscroll, as its first start leaves it.
    ///
    /// The first call creates a database with the tables, and all others are copies of it. A copy takes no longer than an
    /// empty database, and saves the time in which PostgreSQL creates the tables.
    ///
    /// - Parameter makeTables: Makes the tables in the database with the given URL.
    /// - Returns: Its name.
    public func createDatabase(makeTables: (String) throws -> Void) throws -> String {
        let template = try template.withLock { template in
            if let template { return template }
            let name = try createDatabase()
            try makeTables(url(of: name))
            template = name
            return name
        }
        let name = try createDatabase(from: template)
        // Each database has an epoch and a secret of its own.
        try query(
            """
            UPDATE meta SET value = substr(md5(random()::text) || md5(random()::text), 1, length(value))
            WHERE key IN ('epoch', 'fingerprint_secret')
            """, in: name)
        return name
    }

    /// Copies a database as it is at one moment, while it is used.
    ///
    /// - Returns: The name of the copy.
    public func copyDatabase(_ name: String) throws -> String {
        let copy = try createDatabase()
        try run(
            "sh", "-c",
            """
            "$0/pg_dump" "$1" | "$0/psql" --quiet --output /dev/null --set ON_ERROR_STOP=1 "$2"
            """, programs, url(of: name), url(of: copy))
        return copy
    }

    /// Runs a statement on a connection of its own.
    ///
    /// - Returns: The rows, as texts; `nil` stands for NULL.
    @discardableResult
    public func query(_ sql: String, in database: String = "postgres") throws -> [[String?]] {
        let connection = PQconnectdb(url(of: database))
        defer { PQfinish(connection) }
        let result = PQexec(connection, sql)
        defer { PQclear(result) }
        guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
            throw CommandFailed(description: "\(sql): \(String(cString: PQerrorMessage(connection)))")
        }
        return (0..<PQntuples(result)).map { row in
            (0..<PQnfields(result)).map { column in
                PQgetisnull(result, row, column) == 1 ? nil : String(cString: PQgetvalue(result, row, column))
            }
        }
    }

    // MARK: Faults

    /// Starts the server after ``stop(_:)``, and returns when it accepts connections.
    public func start() throws {
        try locked {
            guard server == nil else { return }
            var settings = [
                "listen_addresses": port == nil ? "" : "127.0.0.1", "unix_socket_directories": directory,
                "shared_buffers": "16MB", "max_connections": "400", "max_wal_size": "256MB",
                "port": String(port ?? Self.defaultPort),
            ]
            settings.merge(self.settings) { $1 }
            let process = try spawn(
                "setpriv",
                user.options + ["\(programs)/postgres", "-D", data]
                    + settings.sorted { $0.key < $1.key }.flatMap { ["-c", "\($0.key)=\($0.value)"] },
                output: log)
            server = process
            let deadline = ContinuousClock.now + .seconds(Recorder<Int>.patience)
            while PQping(url(of: "postgres")) != PQPING_OK {
                guard ContinuousClock.now < deadline else {
                    throw PatienceExhausted(description: "PostgreSQL accepts no connections: \(try contents(of: log))")
                }
                guard waitpid(process, nil, WNOHANG) == 0 else {
                    server = nil
                    throw CommandFailed(description: "PostgreSQL ended: \((try? contents(of: log)) ?? "")")
                }
                // PostgreSQL tells nobody that it is ready, so it is asked again and again.
                poll(nil, 0, 10)
            }
        }
    }

    /// Stops the server, and returns when its process has ended.
    public func stop(_ mode: StopMode) {
        locked {
            guard let process = server else { return }
            kill(process, mode.signal)
            while waitpid(process, nil, 0) < 0 && errno == EINTR {}
            server = nil
        }
    }

    /// Makes the server a standby, or a primary, from its next start. It has nothing to replicate from.
    public func setStandby(_ isStandby: Bool) throws {
        let signal = "\(data)/standby.signal"
        if isStandby {
            let descriptor = open(signal, O_WRONLY | O_CREAT, 0o644)
            guard descriptor >= 0 else { throw CommandFailed(description: "\(signal) cannot be made") }
            close(descriptor)
        } else {
            unlink(signal)
        }
    }

    /// Stops the server and starts it again.
    public func restart(_ mode: StopMode) throws {
        stop(mode)
        try start()
    }

    /// Returns the process ids of the backends that serve a database, of all purposes or of one (`application_name`).
    public func backends(of database: String, purpose: String? = nil) throws -> [Int32] {
        let condition = purpose.map { " AND application_name = '\($0)'" } ?? ""
        return try query(
            "SELECT pid FROM pg_stat_activity WHERE datname = '\(database)' AND pid <> pg_backend_pid()\(condition)"
        ).compactMap { $0[0].flatMap { Int32($0) } }
    }

    /// Ends the connections to a database, of all purposes or of one (`application_name`).
    ///
    /// - Returns: Their number.
    @discardableResult
    public func terminateConnections(to database: String, purpose: String? = nil) throws -> Int {
        let backends = try backends(of: database, purpose: purpose)
        // Waits until they are gone.
        for backend in backends { try query("SELECT pg_terminate_backend(\(backend), 30000)") }
        return backends.count
    }

    /// Stops the backends that serve a database for a while (SIGSTOP), so that they answer nothing; runs `body`, and lets
    /// them continue.
    public func withStoppedBackends<R>(
        of database: String, purpose: String? = nil, _ body: () throws -> R
    ) throws -> R {
        let backends = try backends(of: database, purpose: purpose)
        for backend in backends { kill(backend, SIGSTOP) }
        defer { for backend in backends { kill(backend, SIGCONT) } }
        return try body()
    }

    private func locked<R>(_ body: () throws -> R) rethrows -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }

    // MARK: Setting up

    /// The file with the server's messages.
    private var log: String { "\(directory)/log" }

    /// A user other than root, and a command's options that make it run as this user.
    private struct User {
        /// `nil` if the tests do not run as root, so that everything is done as their user.
        var ids: (uid_t, gid_t)?

        static func unprivileged() throws -> User {
            guard getuid() == 0 else { return User() }
            guard let entry = getpwnam("postgres") ?? getpwnam("nobody") else {
                throw CommandFailed(description: "PostgreSQL does not run as root, and there is no user postgres")
            }
            return User(ids: (entry.pointee.pw_uid, entry.pointee.pw_gid))
        }

        /// For setpriv(1), which changes the user if there are any, and replaces itself by the program.
        var options: [String] {
            ids.map { ["--reuid", "\($0.0)", "--regid", "\($0.1)", "--clear-groups"] } ?? []
        }
    }

    /// Returns the directory of the newest version's programs.
    private static func findPrograms() throws -> String {
        var found = glob_t()
        defer { globfree(&found) }
        glob("/usr/lib/postgresql/*/bin/postgres", 0, nil, &found)
        let paths = (0..<Int(found.gl_pathc)).map { String(cString: found.gl_pathv[$0]!) }
        guard let path = paths.max(by: { version(of: $0) < version(of: $1) }) else {
            throw CommandFailed(
                description: "There is no PostgreSQL in /usr/lib/postgresql: run scripts/install --test, or test "
                    + "without it by scripts/test --no-postgres")
        }
        return String(path.dropLast("/postgres".count))
    }

    /// Returns the major version that a path in `/usr/lib/postgresql` names.
    private static func version(of path: String) -> Int { Int(path.split(separator: "/")[3]) ?? 0 }

    private static func makeDirectory(_ user: User) throws -> String {
        var template = Array("/tmp/backscroll-postgres-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw CommandFailed(description: "mkdtemp: error \(errno)") }
        let path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        if let (uid, gid) = user.ids, chown(path, uid, gid) != 0 {
            throw CommandFailed(description: "chown \(path): error \(errno)")
        }
        return path
    }

    /// Starts a process that waits until the returned descriptor is closed, which the kernel does at the latest when this
    /// process ends. It then stops the server of `directory`, and removes the directory.
    private static func watch(_ directory: String) throws -> Int32 {
        let pipe = PipeEnds()
        defer { close(pipe.reading) }
        let script = """
            read -r _
            pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid" && \
                while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
            rm -rf "$1"
            """
        // In a session of its own, which Ctrl-C does not reach, and not as a child of this process: an ended child that is
        // not waited for would keep Swift Testing from noticing the end of exit tests.
        let starter = try spawn(
            "setsid", ["--fork", "sh", "-c", script, "sh", directory], input: pipe.reading, output: "/dev/null")
        while waitpid(starter, nil, 0) < 0 && errno == EINTR {}
        return pipe.writing
    }
}
