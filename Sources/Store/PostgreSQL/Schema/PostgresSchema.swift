/// The tables in PostgreSQL. They have the names and meanings of SQLite's (``Schema/migrations``).
enum PostgresSchema {
    /// The version of the tables that this program creates and needs.
    static var version: Int { migrations.count }

    /// The advisory lock under which a node upgrades the tables: `BkSc`.
    private static let lock = 0x426B_5363

    /// Creates the tables, or upgrades those of an older version. Of several nodes that start at once, one does it.
    ///
    /// - Returns: The settings by which the database may lose changes; `nil` for none.
    /// - Throws: ``StoreError`` if a newer version has upgraded them, or if the database's encoding is not UTF-8;
    ///   ``PostgresError``, also if the database is read-only.
    @discardableResult
    static func migrate(_ connection: PostgresConnection) throws -> String? {
        let danger = try connection.checkTakesChanges()
        let encoding = try connection.run("SELECT current_setting('server_encoding')").text(0, 0)
        guard encoding == "UTF8" else {
            throw StoreError.postgres(
                "its encoding is \(encoding), which cannot hold all messages; create the database with ENCODING 'UTF8' "
                    + "and TEMPLATE template0")
        }
        try connection.execute(
            "BEGIN", "SELECT pg_advisory_xact_lock(\(lock))",
            "CREATE TABLE IF NOT EXISTS meta (key TEXT COLLATE \"C\" PRIMARY KEY, value TEXT NOT NULL)")
        do {
            let current = Int(try value(of: "version", connection) ?? "0") ?? 0
            guard current <= version else {
                throw StoreError.postgres(
                    "it was written by a newer version of Backscroll, with tables of version \(current); this program "
                        + "knows version \(version)")
            }
            for migration in migrations[current...] {
                for statement in migration { try connection.execute(statement) }
            }
            if current == 0 {
                try set("epoch", to: makeRandomName(), connection)
                try set("fingerprint_secret", to: Fingerprinter.makeSecret(), connection)
            }
            if current < version { try set("version", to: "\(version)", connection) }
            try connection.execute("COMMIT")
            return danger
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            throw error
        }
    }

    /// Returns the epoch, and renews it if the end of the history may be lost. That is so if the database is in another
    /// cluster than before, if the cluster was restored to a point in time, or if a standby was promoted. In the last
    /// two cases PostgreSQL begins another timeline (PostgreSQL manual, 26.3.5).
    ///
    /// If the server does not reveal its timeline, the epoch stays.
    ///
    /// - Parameter onRenewal: Called with the epoch if this call has renewed it.
    /// - Throws: ``StoreError`` if there is none; ``PostgresError``.
    static func epoch(_ connection: PostgresConnection, onRenewal: ((String) -> Void)? = nil) throws -> String {
        let timeline = try timeline(connection)
        // Read without the lock, which another node may hold for a long time while it upgrades the tables.
        let current = try connection.run(
            "SELECT value, (SELECT value FROM meta WHERE key = 'timeline') FROM meta WHERE key = 'epoch'")
        if current.count > 0, timeline == nil || current.text(0, 1) == timeline { return current.text(0, 0) }
        try connection.execute("BEGIN", "SELECT pg_advisory_xact_lock(\(lock))")
        do {
            guard var epoch = try value(of: "epoch", connection) else {
                throw StoreError.postgres("its epoch is missing")
            }
            let known = try value(of: "timeline", connection)
            let isRenewed = timeline != nil && known != nil && timeline != known
            if let timeline, timeline != known {
                if isRenewed {
                    epoch = makeRandomName()
                    try set("epoch", to: epoch, connection)
                }
                try set("timeline", to: timeline, connection)
            }
            try connection.execute("COMMIT")
            if isRenewed { onRenewal?(epoch) }
            return epoch
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            throw error
        }
    }

    /// Returns the cluster's identifier and its timeline; `nil` if the server does not reveal them.
    private static func timeline(_ connection: PostgresConnection) throws -> String? {
        do throws(PostgresError) {
            return try connection.run(
                """
                SELECT system_identifier || '/' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)
                FROM pg_control_system()
                """
            ).text(0, 0)
        } catch {
            guard error.kind == .statement else { throw error }
            return nil
        }
    }

    /// Gives the history a new epoch.
    static func renewEpoch(_ connection: PostgresConnection) throws {
        try set("epoch", to: makeRandomName(), connection)
    }

    private static func value(of key: String, _ connection: PostgresConnection) throws -> String? {
        try connection.first("SELECT value FROM meta WHERE key = $1", key) { $0.text(0) }
    }

    private static func set(_ key: String, to value: String, _ connection: PostgresConnection) throws {
        try connection.run(
            "INSERT INTO meta VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value", key, value)
    }

    /// The statements of all versions, oldest first.
    static var statements: [String] { migrations.flatMap(\.self) }

    /// The statements of each version, oldest first. A released version is never changed.
    static let migrations = [
        [
            // `head`, `rev`, `bytes` and `active_at` change with every batch of sends. They are in no index, and pages
            // have free space, so that PostgreSQL changes the row in its page (a HOT update).
            """
            CREATE TABLE rooms (
                id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY CHECK (id < 1 << 27),  -- what RowKey has room for
                name TEXT COLLATE "C" NOT NULL UNIQUE,
                head BIGINT NOT NULL DEFAULT 0,         -- the highest seq
                rev BIGINT NOT NULL DEFAULT 0,          -- the latest revision
                private BIGINT NOT NULL DEFAULT 0,      -- 1: for members only
                deleted BIGINT NOT NULL DEFAULT 0,      -- 1: only its name is left
                bytes BIGINT NOT NULL DEFAULT 0,        -- of the bodies of its messages
                active_at BIGINT,                       -- created_at of its last message; NULL if none
                created_at BIGINT,                      -- milliseconds since 1970
                title TEXT COLLATE "C"
            ) WITH (fillfactor = 50)
            """,
            """
            CREATE TABLE messages (
                id BIGINT PRIMARY KEY,                  -- room and seq, see RowKey
                rev BIGINT NOT NULL,                    -- the room's revision when it was sent; rises with seq
                changed BIGINT,                         -- room and rev of its latest change, see RowKey; NULL if none
                created_at BIGINT NOT NULL,             -- milliseconds since 1970; never falls along seq
                sender TEXT COLLATE "C" NOT NULL,
                client_message_id TEXT COLLATE "C",
                body BYTEA NOT NULL                     -- the snapshot, as it is sent to clients
            )
            """,
            "CREATE UNIQUE INDEX messages_by_change ON messages (changed) WHERE changed IS NOT NULL",
            // Client ids themselves, not 128-bit hashes of them: with UUIDs as ids a hash halves the index, from 98 to 49
            // bytes a message, and saves 60 of 900 bytes of the write-ahead log, but an insertion takes 7 % longer, and
            // the index of an existing database would have to be built again while nothing can be sent.
            """
            CREATE UNIQUE INDEX messages_by_client_message_id ON messages ((id >> 36), sender, client_message_id)
                WHERE client_message_id IS NOT NULL
            """,
            """
            CREATE TABLE reactions (
                message BIGINT NOT NULL, key TEXT COLLATE "C" NOT NULL, "user" TEXT COLLATE "C" NOT NULL,
                rev BIGINT NOT NULL, PRIMARY KEY (message, key, "user")
            )
            """,
            "CREATE UNIQUE INDEX reactions_by_rev ON reactions (message, key, rev)",
            "CREATE TABLE first_contents (message BIGINT PRIMARY KEY, fingerprint BYTEA NOT NULL)",
            """
            CREATE TABLE read_marks (
                "user" TEXT COLLATE "C" NOT NULL, room BIGINT NOT NULL, seq BIGINT NOT NULL, PRIMARY KEY ("user", room)
            )
            """,
            "CREATE INDEX read_marks_by_room ON read_marks (room)",
            // `activity` is the same number in all rows, because `rooms` has the time of the last message.
            """
            CREATE TABLE members (
                room BIGINT NOT NULL, "user" TEXT COLLATE "C" NOT NULL, owner BIGINT NOT NULL,
                activity BIGINT NOT NULL DEFAULT \(OwnRoom.unknownActivity), engaged BIGINT NOT NULL DEFAULT 0,
                PRIMARY KEY (room, "user")
            )
            """,
            "CREATE INDEX members_by_user ON members (\"user\")",
            "CREATE INDEX members_by_owner ON members (room) WHERE owner = 1",
            "CREATE TABLE expired (room BIGINT PRIMARY KEY, seq BIGINT NOT NULL)",
            """
            CREATE TABLE jobs (
                id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, kind TEXT COLLATE "C" NOT NULL,
                number BIGINT NOT NULL, "user" TEXT COLLATE "C", phase BIGINT NOT NULL, place BIGINT NOT NULL
            )
            """,
            """
            CREATE TABLE bans (
                room BIGINT NOT NULL, "user" TEXT COLLATE "C" NOT NULL, reads BIGINT NOT NULL, until BIGINT,
                reason TEXT COLLATE "C", set_by TEXT COLLATE "C" NOT NULL, created_at BIGINT NOT NULL,
                PRIMARY KEY (room, "user")
            )
            """,
            "CREATE INDEX bans_by_end ON bans (until) WHERE until IS NOT NULL",
            """
            CREATE TABLE erasures (
                "user" TEXT COLLATE "C" PRIMARY KEY, erased BIGINT NOT NULL, messages BIGINT NOT NULL
            )
            """,
            """
            CREATE TABLE returns (
                "user" TEXT COLLATE "C" NOT NULL, room BIGINT NOT NULL, seq BIGINT NOT NULL, rev BIGINT NOT NULL,
                PRIMARY KEY ("user", room)
            )
            """,
            // One row, see AccessState.
            """
            CREATE TABLE server (
                id BOOLEAN PRIMARY KEY DEFAULT true CHECK (id), events BIGINT NOT NULL, revocations BIGINT NOT NULL
            )
            """,
            "INSERT INTO server (events, revocations) VALUES (0, 0)",
            """
            CREATE TABLE events (
                id BIGINT PRIMARY KEY, node TEXT NOT NULL, revocation BIGINT NOT NULL, payload TEXT NOT NULL,
                at BIGINT NOT NULL                      -- milliseconds since 1970
            )
            """,
        ],
        [
            // A node's subscribers of a room, see NodeExchange. A crash of the database empties it, and the nodes fill
            // it again. The row with an empty room shows that the node is alive.
            """
            CREATE UNLOGGED TABLE presence (
                node TEXT COLLATE "C" NOT NULL, room TEXT COLLATE "C" NOT NULL, online BIGINT NOT NULL,
                users TEXT COLLATE "C",                 -- their ids with a space in between; NULL for too many
                at BIGINT NOT NULL,                     -- milliseconds since 1970
                PRIMARY KEY (node, room)
            )
            """,
            "CREATE INDEX presence_by_time ON presence (at)",
        ],
        [
            // The values of --keep-days in use, see Retention.
            """
            CREATE TABLE retention (
                days BIGINT PRIMARY KEY,                -- 0 for ever
                at BIGINT NOT NULL                      -- the latest report by a node, in milliseconds since 1970
            )
            """,
            // Rows change with every report. Without the index, and with free space in their pages, PostgreSQL changes
            // them in their pages (HOT updates).
            "DROP INDEX presence_by_time",
            "ALTER TABLE presence SET (fillfactor = 50)",
        ],
        // The number of restrictions in the room, such as the removal of a member. A node compares it when it stores a
        // message, see SendBatch.
        ["ALTER TABLE rooms ADD COLUMN access BIGINT NOT NULL DEFAULT 0"],
        [
            // The time when the mark moved to `seq`, in milliseconds since 1970; NULL if an earlier version moved it.
            "ALTER TABLE read_marks ADD COLUMN moved_at BIGINT",
            // Lists the marks of a room by user. It has neither `seq` nor the time, so that PostgreSQL moves a mark in its
            // page (a HOT update).
            "CREATE INDEX read_marks_by_room_and_user ON read_marks (room, \"user\")",
            "DROP INDEX read_marks_by_room",
        ],
        [
            // The two members of a direct room; NULL for other rooms.
            "ALTER TABLE rooms ADD COLUMN direct_first TEXT COLLATE \"C\", ADD COLUMN direct_second TEXT COLLATE \"C\"",
            // 1: a direct room that is not in the member's list of rooms until its next message.
            "ALTER TABLE members ADD COLUMN hidden BIGINT NOT NULL DEFAULT 0",
            """
            CREATE TABLE blocks (
                "user" TEXT COLLATE "C" NOT NULL, blocked TEXT COLLATE "C" NOT NULL, created_at BIGINT NOT NULL,
                PRIMARY KEY ("user", blocked)
            )
            """,
            "CREATE INDEX blocks_by_blocked ON blocks (blocked)",
        ],
        [
            // The users whom messages mention, and the rooms, for which the user is a space.
            """
            CREATE TABLE mentions (
                "user" TEXT COLLATE "C" NOT NULL, message BIGINT NOT NULL, sender TEXT COLLATE "C" NOT NULL,
                created_at BIGINT NOT NULL,             -- of the message, in milliseconds since 1970
                PRIMARY KEY ("user", message)
            )
            """,
            "CREATE INDEX mentions_by_message ON mentions (message)",
            // Lists a user's mentions in all rooms, newest first.
            "CREATE INDEX mentions_by_time ON mentions (\"user\", created_at, message)",
        ],
        [
            // Reported messages, as they were when they were first reported, without reactions.
            """
            CREATE TABLE reports (
                id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, room BIGINT NOT NULL, seq BIGINT NOT NULL,
                sender TEXT COLLATE "C" NOT NULL, body BYTEA NOT NULL, created_at BIGINT NOT NULL,
                closed_at BIGINT,                       -- NULL while it is open
                action TEXT COLLATE "C", closed_by TEXT COLLATE "C", UNIQUE (room, seq)
            )
            """,
            "CREATE INDEX reports_open ON reports (id) WHERE closed_at IS NULL",
            "CREATE INDEX reports_closed ON reports (id) WHERE closed_at IS NOT NULL",
            "CREATE INDEX reports_by_sender ON reports (sender)",
            // The users who reported them.
            """
            CREATE TABLE reporters (
                room BIGINT NOT NULL, seq BIGINT NOT NULL, "user" TEXT COLLATE "C" NOT NULL,
                reason TEXT COLLATE "C" NOT NULL, note TEXT COLLATE "C", created_at BIGINT NOT NULL,
                PRIMARY KEY (room, seq, "user")
            )
            """,
            "CREATE INDEX reporters_by_user ON reporters (\"user\", created_at)",
        ],
        // The settings that owners make. `slow_sends` has the times of users' last messages in rooms with `slow_seconds`.
        [
            """
            ALTER TABLE rooms
                ADD COLUMN posting BIGINT NOT NULL DEFAULT 0,       -- 1: owners only
                ADD COLUMN slow_seconds BIGINT NOT NULL DEFAULT 0,
                ADD COLUMN keep_days BIGINT,                        -- NULL for the server's
                ADD COLUMN avatar TEXT COLLATE "C",
                ADD COLUMN data TEXT COLLATE "C"
            """,
            "CREATE INDEX rooms_by_keep_days ON rooms (id) WHERE keep_days IS NOT NULL",
            """
            CREATE TABLE slow_sends (
                "user" TEXT COLLATE "C" NOT NULL, room BIGINT NOT NULL,
                at BIGINT NOT NULL,                                 -- milliseconds since 1970
                PRIMARY KEY ("user", room)
            )
            """,
            "CREATE INDEX slow_sends_by_room ON slow_sends (room)",
        ],
        // Pinned messages, and who may pin.
        [
            "ALTER TABLE rooms ADD COLUMN pinning BIGINT NOT NULL DEFAULT 0",  // 1: all members
            """
            CREATE TABLE pins (
                message BIGINT PRIMARY KEY,             -- see messages.id
                rev BIGINT NOT NULL,                    -- the room's revision that the pin was
                "user" TEXT COLLATE "C" NOT NULL
            )
            """,
            "CREATE INDEX pins_by_user ON pins (\"user\")",
        ],
        // Names and pictures of users.
        [
            """
            CREATE TABLE profiles (
                "user" TEXT COLLATE "C" PRIMARY KEY, name TEXT COLLATE "C", avatar TEXT COLLATE "C",
                data TEXT COLLATE "C"                   -- a JSON object
            )
            """
        ],
        [
            // Users' settings for what may disturb them in rooms; without a row everything may.
            """
            CREATE TABLE notify (
                "user" TEXT COLLATE "C" NOT NULL, room BIGINT NOT NULL, level TEXT COLLATE "C" NOT NULL, until BIGINT,
                room_mentions BIGINT NOT NULL, PRIMARY KEY ("user", room)
            )
            """,
            "CREATE INDEX notify_by_room ON notify (room)",
        ],
        [
            // The words of messages, see WordIndexer.
            """
            CREATE TABLE words (
                message BIGINT PRIMARY KEY,             -- see messages.id
                created_at BIGINT NOT NULL,             -- of the message
                tokens TSVECTOR NOT NULL                -- each after the number of its block
            )
            """,
            "CREATE INDEX words_by_token ON words USING gin (tokens) WITH (gin_pending_list_limit = 1024)",
            """
            CREATE TABLE word_blocks (
                id BIGINT PRIMARY KEY,
                start BIGINT NOT NULL,                  -- created_at of its first message, in milliseconds since 1970
                messages BIGINT NOT NULL,               -- in it
                latest BIGINT NOT NULL                  -- created_at of the newest message that is indexed
            )
            """,
            """
            CREATE TABLE indexed (
                room BIGINT PRIMARY KEY,
                seq BIGINT NOT NULL,                    -- the messages up to this one are in `words`
                rev BIGINT NOT NULL                     -- their changes up to this one, too
            )
            """,
            // Searches wait until the messages of an earlier version are indexed.
            SearchRebuild.noteBuilding,
        ],
        // Webhooks, and the rooms of which their receivers lack changes. The columns have the meanings of SQLite's.
        [
            """
            CREATE TABLE webhooks (
                id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name TEXT COLLATE "C" NOT NULL UNIQUE,
                version BIGINT NOT NULL, url TEXT COLLATE "C" NOT NULL, rooms TEXT COLLATE "C" NOT NULL,
                events TEXT COLLATE "C" NOT NULL, secrets TEXT COLLATE "C" NOT NULL, enabled BIGINT NOT NULL,
                created_at BIGINT NOT NULL, epoch TEXT COLLATE "C" NOT NULL, pause TEXT COLLATE "C",
                failing_since BIGINT, error_at BIGINT, error_status BIGINT, error_detail TEXT COLLATE "C",
                next_attempt BIGINT, scan_room BIGINT, scan_since BIGINT
            )
            """,
            // The cursors move in their pages (HOT updates).
            """
            CREATE TABLE webhook_rooms (
                webhook BIGINT NOT NULL, room BIGINT NOT NULL, rev BIGINT NOT NULL, at BIGINT NOT NULL, stopped BIGINT,
                PRIMARY KEY (webhook, room)
            ) WITH (fillfactor = 50)
            """,
            // Lists a room whose revision rises, or that is deleted, for each webhook that covers it. The transaction holds
            // the lock of the room's row, as does the one that deletes the row in `webhook_rooms`, so no change is missed.
            """
            CREATE FUNCTION list_webhook_rooms() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                INSERT INTO webhook_rooms (webhook, room, rev, at)
                SELECT webhooks.id, NEW.id, OLD.rev, floor(extract(epoch FROM clock_timestamp()) * 1000)
                FROM webhooks WHERE EXISTS (
                    SELECT 1 FROM unnest(string_to_array(webhooks.rooms, ' ')) AS pattern
                    WHERE NEW.name LIKE replace(replace(pattern, '_', '\\_'), '*', '%'))
                ON CONFLICT DO NOTHING;
                RETURN NULL;
            END
            $$
            """,
            """
            CREATE TRIGGER webhook_rooms AFTER UPDATE ON rooms
                FOR EACH ROW WHEN (OLD.rev <> NEW.rev OR OLD.deleted <> NEW.deleted) EXECUTE FUNCTION list_webhook_rooms()
            """,
            // Without webhooks it costs nothing. The first one turns it on.
            "ALTER TABLE rooms DISABLE TRIGGER webhook_rooms",
        ],
        ["ALTER TABLE rooms ADD COLUMN searchable BIGINT NOT NULL DEFAULT 1"],  // 0: no search looks into the room
        SendFunction.first,
        [
            // The columns have the meanings of SQLite's.
            """
            CREATE TABLE webhook_events (
                id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, webhook BIGINT NOT NULL, room BIGINT NOT NULL,
                rev BIGINT NOT NULL, at BIGINT NOT NULL, kind TEXT COLLATE "C" NOT NULL, type TEXT COLLATE "C" NOT NULL,
                "user" TEXT COLLATE "C", "by" TEXT COLLATE "C", details TEXT COLLATE "C" NOT NULL
            )
            """,
            "CREATE INDEX webhook_events_by_room ON webhook_events (webhook, room, id)",
            // Webhooks without messages are not told of them.
            """
            CREATE OR REPLACE FUNCTION list_webhook_rooms() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                INSERT INTO webhook_rooms (webhook, room, rev, at)
                SELECT webhooks.id, NEW.id, OLD.rev, floor(extract(epoch FROM clock_timestamp()) * 1000)
                FROM webhooks WHERE ('message' = ANY (string_to_array(webhooks.events, ' '))
                    OR (OLD.deleted <> NEW.deleted AND 'room' = ANY (string_to_array(webhooks.events, ' '))))
                AND EXISTS (
                    SELECT 1 FROM unnest(string_to_array(webhooks.rooms, ' ')) AS pattern
                    WHERE NEW.name LIKE replace(replace(pattern, '_', '\\_'), '*', '%'))
                ON CONFLICT DO NOTHING;
                RETURN NULL;
            END
            $$
            """,
        ],
        // Lists of reports are in the order of their times, which a report that is open again changes.
        [
            "DROP INDEX reports_open",
            "DROP INDEX reports_closed",
            "CREATE INDEX reports_open ON reports (created_at, id) WHERE closed_at IS NULL",
            "CREATE INDEX reports_closed ON reports (created_at, id) WHERE closed_at IS NOT NULL",
        ],
        // What was pushed to members. The columns have the meanings of SQLite's.
        [
            """
            CREATE TABLE pushed (
                webhook BIGINT NOT NULL, room BIGINT NOT NULL, "user" TEXT COLLATE "C" NOT NULL, seq BIGINT NOT NULL,
                marked BIGINT NOT NULL, PRIMARY KEY (webhook, room, "user")
            )
            """,
            "CREATE INDEX pushed_by_mark ON pushed (webhook, \"user\", room) WHERE marked > 0",
            "CREATE INDEX pushed_by_user ON pushed (\"user\")",
            """
            CREATE TABLE pushed_badges (
                webhook BIGINT NOT NULL, "user" TEXT COLLATE "C" NOT NULL, badge BIGINT NOT NULL,
                PRIMARY KEY (webhook, "user")
            )
            """,
            "CREATE INDEX pushed_badges_by_user ON pushed_badges (\"user\")",
            """
            CREATE TABLE push_changes (
                id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, webhook BIGINT NOT NULL,
                "user" TEXT COLLATE "C" NOT NULL, room BIGINT NOT NULL
            )
            """,
            "CREATE INDEX push_changes_by_webhook ON push_changes (webhook, id)",
            // As before, and with a row under the negative number of a webhook for its push events.
            """
            CREATE OR REPLACE FUNCTION list_webhook_rooms() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                INSERT INTO webhook_rooms (webhook, room, rev, at)
                SELECT listed, NEW.id, OLD.rev, floor(extract(epoch FROM clock_timestamp()) * 1000)
                FROM (
                    SELECT id AS listed, rooms FROM webhooks WHERE 'message' = ANY (string_to_array(events, ' '))
                        OR (OLD.deleted <> NEW.deleted AND 'room' = ANY (string_to_array(events, ' ')))
                    UNION ALL
                    SELECT -id, rooms FROM webhooks WHERE 'push' = ANY (string_to_array(events, ' '))
                ) AS listing WHERE EXISTS (
                    SELECT 1 FROM unnest(string_to_array(listing.rooms, ' ')) AS pattern
                    WHERE NEW.name LIKE replace(replace(pattern, '_', '\\_'), '*', '%'))
                ON CONFLICT DO NOTHING;
                RETURN NULL;
            END
            $$
            """,
            // Lists what may lower a badge. It only adds rows, so it waits for no other transaction.
            """
            CREATE FUNCTION list_push_changes() RETURNS trigger LANGUAGE plpgsql AS $$
            DECLARE
                changed RECORD;
            BEGIN
                IF TG_OP = 'DELETE' THEN
                    changed := OLD;
                ELSE
                    changed := NEW;
                    -- Not in one condition: the other tables have no such column.
                    IF TG_TABLE_NAME = 'members' THEN
                        IF changed.hidden = 0 THEN RETURN NULL; END IF;
                    END IF;
                END IF;
                INSERT INTO push_changes (webhook, "user", room)
                SELECT id, changed."user", changed.room FROM webhooks WHERE ' ' || events || ' ' LIKE '% push %';
                RETURN NULL;
            END
            $$
            """,
            """
            CREATE TRIGGER push_changes AFTER INSERT OR UPDATE OF seq ON read_marks
                FOR EACH ROW EXECUTE FUNCTION list_push_changes()
            """,
            """
            CREATE TRIGGER push_changes AFTER INSERT OR UPDATE ON notify
                FOR EACH ROW EXECUTE FUNCTION list_push_changes()
            """,
            """
            CREATE TRIGGER push_changes AFTER DELETE OR UPDATE OF hidden ON members
                FOR EACH ROW EXECUTE FUNCTION list_push_changes()
            """,
            // Without push events they cost nothing.
            "ALTER TABLE read_marks DISABLE TRIGGER push_changes",
            "ALTER TABLE notify DISABLE TRIGGER push_changes",
            "ALTER TABLE members DISABLE TRIGGER push_changes",
        ],
        [
            // Always on, because bans are rare. Without push events it adds nothing.
            """
            CREATE TRIGGER push_changes AFTER INSERT OR UPDATE ON bans
                FOR EACH ROW WHEN (NEW.reads = 1) EXECUTE FUNCTION list_push_changes()
            """
        ],
        SendFunction.second,
    ]
}
