/// The migrations, in order.
extension Schema {
    /// The migration since which messages can be changed. It stores the secret for their fingerprints.
    static let changes = "v3"

    /// The migrations of all versions, oldest first. A released migration is never changed.
    static var migrations: [Migration] {
        [
            Migration(name: "v1") { db in
                try db.execute(
                    """
                    CREATE TABLE meta (
                        key TEXT PRIMARY KEY NOT NULL,
                        value TEXT NOT NULL
                    ) WITHOUT ROWID;

                    -- A room's head and revision are those of its last messages: a send writes nothing here.
                    CREATE TABLE rooms (
                        id INTEGER PRIMARY KEY CHECK (id < 1 << 27),    -- what RowKey has room for
                        name TEXT NOT NULL UNIQUE
                    );

                    -- The body is the message's snapshot, as it is sent to clients.
                    CREATE TABLE messages (
                        id INTEGER PRIMARY KEY,         -- room and seq, see RowKey
                        rev INTEGER NOT NULL,           -- the room's revision when it was sent; rises with seq
                        changed INTEGER,                -- room and rev of its latest change, see RowKey; NULL if none
                        created_at INTEGER NOT NULL,    -- milliseconds since 1970; never falls along seq
                        sender TEXT NOT NULL,
                        client_message_id TEXT,
                        body BLOB NOT NULL
                    );

                    -- Messages that were never changed are in the order of their revisions already. They are not in
                    -- this index, so a send does not touch it.
                    CREATE UNIQUE INDEX messages_by_change ON messages (changed) WHERE changed IS NOT NULL;

                    -- At most one message for each client message id, which makes sends idempotent.
                    CREATE UNIQUE INDEX messages_by_client_message_id
                        ON messages (id >> 36, sender, client_message_id)
                        WHERE client_message_id IS NOT NULL;
                    """)
                try db.run("INSERT INTO meta VALUES ('epoch', $1)", makeRandomName())
            },
            Migration(name: "v2") { db in
                try db.execute(
                    """
                    -- The messages of one commit, until all of them are filed, see JournalRow.
                    CREATE TABLE journal (
                        id INTEGER PRIMARY KEY,
                        messages BLOB NOT NULL
                    );
                    """)
            },
            Migration(name: changes) { db in
                try db.execute(
                    """
                    -- The reactions of users. Their counts, and the order of their keys, are in the message's body.
                    CREATE TABLE reactions (
                        message INTEGER NOT NULL,       -- see messages.id
                        key TEXT NOT NULL,
                        user TEXT NOT NULL,
                        rev INTEGER NOT NULL,           -- the room's revision that the reaction was
                        PRIMARY KEY (message, key, user)
                    ) WITHOUT ROWID;

                    -- Finds the first users of a key when one of them removes a reaction.
                    CREATE UNIQUE INDEX reactions_by_rev ON reactions (message, key, rev);

                    -- The fingerprints of contents first sent, for messages with a client message id that were edited
                    -- or deleted since, see Fingerprinter.
                    CREATE TABLE first_contents (
                        message INTEGER PRIMARY KEY,    -- see messages.id
                        fingerprint BLOB NOT NULL
                    );
                    """)
                try db.run(
                    "INSERT INTO meta VALUES ('fingerprint_secret', $1)", Fingerprinter.makeSecret())
            },
        ] + laterMigrations.map { name, sql in Migration(name: name) { try $0.execute(sql) } }
    }

    /// The key in `meta` for the progress of ``ActivityStatements/fill(most:)``, which fills in the activity of
    /// memberships that an earlier version stored. Absent once all are filled in.
    static let activityFill = "activity_fill"

    /// The migrations after "v3", each of which only executes SQL.
    private static let laterMigrations: [(name: String, sql: String)] = [
        (
            name: "v4",
            sql: """
            ALTER TABLE rooms ADD COLUMN private INTEGER NOT NULL DEFAULT 0;    -- 1: for members only
            ALTER TABLE rooms ADD COLUMN title TEXT;

            -- The positions up to which users have read rooms. A mark never moves back.
            CREATE TABLE read_marks (
                user TEXT NOT NULL,
                room INTEGER NOT NULL,          -- see rooms.id
                seq INTEGER NOT NULL,
                PRIMARY KEY (user, room)
            ) WITHOUT ROWID;

            CREATE TABLE members (
                room INTEGER NOT NULL,          -- see rooms.id
                user TEXT NOT NULL,
                owner INTEGER NOT NULL,         -- 1: may change the room and its members
                PRIMARY KEY (room, user)
            ) WITHOUT ROWID;

            CREATE INDEX members_by_user ON members (user);

            -- Finds the owners of a room, however many members it has.
            CREATE INDEX members_by_owner ON members (room) WHERE owner = 1;

            -- The first sender of an existing room becomes its owner, as in new rooms.
            INSERT INTO members (room, user, owner)
                SELECT rooms.id, sender, 1 FROM rooms JOIN messages ON messages.id = (rooms.id << 36) + 1;
            """
        ),
        (
            name: "v5",
            sql: """
            -- Milliseconds since 1970, to sort a room without messages. NULL for a room created before v5.
            ALTER TABLE rooms ADD COLUMN created_at INTEGER;
            """
        ),
        (
            name: "v6",
            sql: """
            -- The positions up to which the messages of rooms have expired, see Expiry.
            CREATE TABLE expired (
                room INTEGER PRIMARY KEY,       -- see rooms.id
                seq INTEGER NOT NULL
            );
            """
        ),
        (
            name: "v7",
            sql: """
            ALTER TABLE rooms ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0;    -- 1: only its name is left

            CREATE INDEX read_marks_by_room ON read_marks (room);

            -- Unfinished work that is done in parts, see Job.
            CREATE TABLE jobs (
                id INTEGER PRIMARY KEY,
                kind TEXT NOT NULL,             -- see Job.Kind
                number INTEGER NOT NULL,        -- what it is about
                user TEXT,                      -- whom it is about
                phase INTEGER NOT NULL,         -- how far it has come
                place INTEGER NOT NULL
            );
            """
        ),
        (
            name: "v8",
            sql: """
            CREATE TABLE bans (
                room INTEGER NOT NULL,          -- see rooms.id; 0 for the whole server
                user TEXT NOT NULL,
                reads INTEGER NOT NULL,         -- 1: reading and subscribing are banned, too
                until INTEGER,                  -- milliseconds since 1970; NULL for ever
                reason TEXT,
                set_by TEXT NOT NULL,
                created_at INTEGER NOT NULL,    -- milliseconds since 1970
                PRIMARY KEY (room, user)
            ) WITHOUT ROWID;

            -- Finds bans that have ended. They are deleted a few at a time.
            CREATE INDEX bans_by_end ON bans (until) WHERE until IS NOT NULL;
            """
        ),
        (
            name: "v9",
            sql: """
            -- Users who were erased, or are about to be.
            CREATE TABLE erasures (
                user TEXT PRIMARY KEY NOT NULL,
                erased INTEGER NOT NULL,        -- 1: nothing is left
                messages INTEGER NOT NULL       -- how many have become tombstones
            ) WITHOUT ROWID;

            -- The boundaries of users who are being erased: what comes after these positions of a room belongs
            -- to new users with the same names.
            CREATE TABLE returns (
                user TEXT NOT NULL,
                room INTEGER NOT NULL,          -- see rooms.id
                seq INTEGER NOT NULL,
                rev INTEGER NOT NULL,
                PRIMARY KEY (user, room)
            ) WITHOUT ROWID;
            """
        ),
        (
            name: "v10",
            sql: """
            ALTER TABLE rooms ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;  -- of the bodies of filed messages
            ALTER TABLE rooms ADD COLUMN active_at INTEGER;     -- created_at of its last one; NULL if none

            UPDATE rooms SET (bytes, active_at) = (SELECT ifnull(sum(length(body)), 0), max(created_at)
                FROM messages WHERE messages.id > rooms.id << 36 AND messages.id < (rooms.id + 1) << 36);

            CREATE INDEX rooms_by_activity ON rooms (ifnull(ifnull(active_at, created_at), 0) DESC, name)
                WHERE deleted = 0;
            """
        ),
        // Reads each membership and writes none, so that a large database opens quickly. A job fills them in while the
        // server runs.
        (
            name: "v11",
            sql: """
            -- The time of the room's newest filed message, or else of its creation, in milliseconds since 1970;
            -- the largest number if it is not stored, see ActivityStatements; NULL until it has been filled in.
            ALTER TABLE members ADD COLUMN activity INTEGER;
            -- 1: the user has sent to the room, read it, created it or joined it.
            ALTER TABLE members ADD COLUMN engaged INTEGER NOT NULL DEFAULT 0;

            CREATE INDEX members_by_activity ON members (user, engaged, activity) WHERE activity IS NOT NULL;

            -- Gives a new row an activity, so that lists find it in their index.
            CREATE TRIGGER members_activity AFTER INSERT ON members WHEN new.activity IS NULL BEGIN
                UPDATE members SET activity = \(ActivityStatements.unknown)
                WHERE room = new.room AND user = new.user;
            END;
            INSERT INTO meta SELECT '\(activityFill)', ':' WHERE EXISTS (SELECT 1 FROM members);
            INSERT INTO jobs (kind, number, phase, place)
                SELECT 'activity', (SELECT max(id) FROM rooms), 0, 0 WHERE EXISTS (SELECT 1 FROM members);
            """
        ),
        (
            name: "v12",
            sql: """
            -- The time when the mark moved to `seq`, in milliseconds since 1970; NULL if an earlier version moved it.
            ALTER TABLE read_marks ADD COLUMN moved_at INTEGER;
            """
        ),
        (
            name: "v13",
            sql: """
            -- The two members of a direct room; NULL for other rooms.
            ALTER TABLE rooms ADD COLUMN direct_first TEXT;
            ALTER TABLE rooms ADD COLUMN direct_second TEXT;
            -- 1: a direct room that is not in the member's list of rooms until its next message.
            ALTER TABLE members ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0;

            CREATE TABLE blocks (
                user TEXT NOT NULL,
                blocked TEXT NOT NULL,
                created_at INTEGER NOT NULL,    -- milliseconds since 1970
                PRIMARY KEY (user, blocked)
            ) WITHOUT ROWID;

            -- Finds the blocks of a user who is being erased.
            CREATE INDEX blocks_by_blocked ON blocks (blocked);
            """
        ),
        (
            name: "v14",
            sql: """
            -- The users whom messages mention, and the rooms.
            CREATE TABLE mentions (
                user TEXT NOT NULL,             -- a space for a mention of the room
                message INTEGER NOT NULL,       -- see messages.id
                sender TEXT NOT NULL,           -- of the message
                created_at INTEGER NOT NULL,    -- of the message, in milliseconds since 1970
                PRIMARY KEY (user, message)
            ) WITHOUT ROWID;

            CREATE INDEX mentions_by_message ON mentions (message);
            -- Lists a user's mentions in all rooms, newest first.
            CREATE INDEX mentions_by_time ON mentions (user, created_at, message);
            """
        ),
        (
            name: "v15",
            sql: """
            -- Reported messages, as they were when they were first reported.
            CREATE TABLE reports (
                id INTEGER PRIMARY KEY,
                room INTEGER NOT NULL,          -- see rooms.id
                seq INTEGER NOT NULL,
                sender TEXT NOT NULL,
                body BLOB NOT NULL,             -- the snapshot, without reactions
                created_at INTEGER NOT NULL,    -- milliseconds since 1970
                closed_at INTEGER,              -- milliseconds since 1970; NULL while it is open
                action TEXT,                    -- what was done, see ReportAction
                closed_by TEXT,
                UNIQUE (room, seq)
            );

            CREATE INDEX reports_open ON reports (id) WHERE closed_at IS NULL;
            CREATE INDEX reports_closed ON reports (id) WHERE closed_at IS NOT NULL;
            CREATE INDEX reports_by_sender ON reports (sender);

            -- The users who reported them.
            CREATE TABLE reporters (
                room INTEGER NOT NULL,
                seq INTEGER NOT NULL,
                user TEXT NOT NULL,
                reason TEXT NOT NULL,           -- see ReportDraft.Reason
                note TEXT,
                created_at INTEGER NOT NULL,    -- milliseconds since 1970
                PRIMARY KEY (room, seq, user)
            ) WITHOUT ROWID;

            -- Counts the reports that a user made lately.
            CREATE INDEX reporters_by_user ON reporters (user, created_at);
            """
        ),
        (
            name: "v16",
            sql: """
            ALTER TABLE rooms ADD COLUMN posting INTEGER NOT NULL DEFAULT 0;        -- 1: owners only
            ALTER TABLE rooms ADD COLUMN slow_seconds INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE rooms ADD COLUMN keep_days INTEGER;     -- NULL for the server's
            ALTER TABLE rooms ADD COLUMN avatar TEXT;
            ALTER TABLE rooms ADD COLUMN data TEXT;

            CREATE INDEX rooms_by_keep_days ON rooms (id) WHERE keep_days IS NOT NULL;

            -- The times of users' last messages in rooms with `slow_seconds`.
            CREATE TABLE slow_sends (
                user TEXT NOT NULL,
                room INTEGER NOT NULL,          -- see rooms.id
                at INTEGER NOT NULL,            -- milliseconds since 1970
                PRIMARY KEY (user, room)
            ) WITHOUT ROWID;

            CREATE INDEX slow_sends_by_room ON slow_sends (room);
            """
        ),
        (
            name: "v17",
            sql: """
            ALTER TABLE rooms ADD COLUMN pinning INTEGER NOT NULL DEFAULT 0;    -- 1: all members may pin messages

            CREATE TABLE pins (
                message INTEGER PRIMARY KEY,    -- see messages.id
                rev INTEGER NOT NULL,           -- the room's revision that the pin was
                user TEXT NOT NULL
            );

            CREATE INDEX pins_by_user ON pins (user);
            """
        ),
        (
            name: "v18",
            sql: """
            CREATE TABLE profiles (
                user TEXT PRIMARY KEY NOT NULL,
                name TEXT,                      -- as the other columns: NULL or empty if there is none
                avatar TEXT,
                data TEXT                       -- a JSON object
            ) WITHOUT ROWID;
            """
        ),
        (
            name: "v19",
            sql: """
            -- What may disturb users in rooms; without a row everything may.
            CREATE TABLE notify (
                user TEXT NOT NULL,
                room INTEGER NOT NULL,          -- see rooms.id
                level TEXT NOT NULL,            -- see NotifySettings.Level
                until INTEGER,                  -- milliseconds since 1970; NULL for ever
                room_mentions INTEGER NOT NULL, -- 1: a mention of the room is like one of the user
                PRIMARY KEY (user, room)
            ) WITHOUT ROWID;

            CREATE INDEX notify_by_room ON notify (room);
            """
        ),
        (
            name: "v20",
            sql: """
            -- The words of messages, see SearchIndex. The rows have the ids of the messages.
            CREATE VIRTUAL TABLE words USING fts5(text, content='', detail=none, columnsize=0, tokenize='ascii');

            -- Parts are merged by the writer in small steps.
            INSERT INTO words (words, rank) VALUES ('automerge', 0);
            INSERT INTO words (words, rank) VALUES ('crisismerge', 1999);

            CREATE TABLE indexed (
                room INTEGER PRIMARY KEY,       -- see rooms.id
                seq INTEGER NOT NULL            -- the messages up to this one are in `words`
            );
            """
        ),
        (
            name: "v21",
            sql: """
            CREATE TABLE webhooks (
                id INTEGER PRIMARY KEY,
                name TEXT NOT NULL UNIQUE,      -- the id as admins write it
                version INTEGER NOT NULL,       -- rises with each change by an admin
                url TEXT NOT NULL,
                rooms TEXT NOT NULL,            -- patterns with spaces in between, as in the next columns
                events TEXT NOT NULL,
                secrets TEXT NOT NULL,          -- newest first, the others with @ and the time until which they sign
                enabled INTEGER NOT NULL,
                created_at INTEGER NOT NULL,    -- as all times: in milliseconds since 1970
                epoch TEXT NOT NULL,            -- the one that the receiver knows
                pause TEXT,                     -- see Webhook.Pause
                failing_since INTEGER,
                error_at INTEGER,               -- of the latest failure, as the next two
                error_status INTEGER,
                error_detail TEXT,
                next_attempt INTEGER,
                scan_room INTEGER,              -- see Webhook.Scan
                scan_since INTEGER
            );

            -- The rooms of which a webhook's receiver lacks changes. A commit adds a room that it changes; the row is
            -- deleted once the receiver has everything.
            CREATE TABLE webhook_rooms (
                webhook INTEGER NOT NULL,       -- see webhooks.id
                room INTEGER NOT NULL,          -- see rooms.id
                rev INTEGER NOT NULL,           -- the receiver has everything up to this revision
                at INTEGER NOT NULL,            -- the time of the oldest change that it lacks, as far as it is known
                stopped INTEGER,                -- the last revision of a delivery that it refuses for ever; -id of an event
                PRIMARY KEY (webhook, room)
            ) WITHOUT ROWID;
            """
        ),
        (
            name: "v22",
            sql: """
            ALTER TABLE rooms ADD COLUMN searchable INTEGER NOT NULL DEFAULT 1; -- 0: no search looks into it
            """
        ),
        (
            name: "v23",
            sql: """
            -- The events of rooms, members and reports that a webhook's receiver lacks. The commit of the event adds the row;
            -- it is deleted once the receiver has it. Numbers are never used again.
            CREATE TABLE webhook_events (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                webhook INTEGER NOT NULL,       -- see webhooks.id
                room INTEGER NOT NULL,          -- see rooms.id; 0 for the whole server
                rev INTEGER NOT NULL,           -- the room's revision when it happened
                at INTEGER NOT NULL,            -- milliseconds since 1970
                kind TEXT NOT NULL,             -- see WebhookEvent
                type TEXT NOT NULL,             -- as in the body
                user TEXT,                      -- whom it is about
                by TEXT,                        -- who made the change
                details TEXT NOT NULL           -- further members of the body
            );
            CREATE INDEX webhook_events_by_room ON webhook_events (webhook, room, id);
            """
        ),
        (
            name: "v24",
            sql: """
            -- A report that is open again takes the place of its new time.
            DROP INDEX reports_open;
            DROP INDEX reports_closed;
            CREATE INDEX reports_open ON reports (created_at, id) WHERE closed_at IS NULL;
            CREATE INDEX reports_closed ON reports (created_at, id) WHERE closed_at IS NOT NULL;
            """
        ),
        (
            name: "v25",
            sql: """
            -- What was pushed to members, see PushStore. The cursors of push events are rows of `webhook_rooms` with the
            -- negative number of their webhook.
            CREATE TABLE pushed (
                webhook INTEGER NOT NULL,       -- see webhooks.id
                room INTEGER NOT NULL,          -- see rooms.id
                user TEXT NOT NULL,
                seq INTEGER NOT NULL,           -- of the newest message that was pushed; 0 if none is outstanding
                marked INTEGER NOT NULL,        -- 0, or a number that rises when there may be less unread
                PRIMARY KEY (webhook, room, user)
            ) WITHOUT ROWID;

            CREATE INDEX pushed_by_mark ON pushed (webhook, user, room) WHERE marked > 0;
            CREATE INDEX pushed_by_user ON pushed (user);

            -- The badges that users were told, until they are 0.
            CREATE TABLE pushed_badges (
                webhook INTEGER NOT NULL,
                user TEXT NOT NULL,
                badge INTEGER NOT NULL,
                PRIMARY KEY (webhook, user)
            ) WITHOUT ROWID;

            CREATE INDEX pushed_badges_by_user ON pushed_badges (user);

            -- What may lower badges, until it was looked at.
            CREATE TABLE push_changes (
                id INTEGER PRIMARY KEY,
                webhook INTEGER NOT NULL,
                user TEXT NOT NULL,
                room INTEGER NOT NULL
            );

            CREATE INDEX push_changes_by_webhook ON push_changes (webhook, id);
            """
        ),
    ]
}
