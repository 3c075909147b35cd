import Wire

/// The function `backscroll_send`, with which an app stores a message in a transaction of its own.
///
/// It does what a node does for an admin who sends to an existing room: it takes the lock of the room's row, adds the
/// message, and tells the nodes by `NOTIFY`. The tests compare its bytes and rows with those of nodes, and its refusals
/// with their decisions. Like a migration, a version is never changed once released; a later one replaces it.
enum SendFunction {
    /// A regular expression for texts in which nothing is shown: see ``Swift/String/isBlank``.
    static let blank =
        "^["
        + #"\u0001-\u0020\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f"#
        + #"\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"#
        + #"\U0001d173-\U0001d17a\U000e0000-\U000e0fff]*$"#

    /// A regular expression for a character that no user id has: see ``Wire/UserID``. Characters that Unicode has not
    /// assigned are left out.
    static let notInUserID =
        "["
        + #"\u0001-\u0020\u007f-\u00a0\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u1680\u180e\u2000-\u200b"#
        + #"\u200e\u200f\u2028-\u202f\u205f-\u2064\u2066-\u206f\u3000\ufeff\ufff9-\ufffb\U000110bd\U000110cd"#
        + #"\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f]"#

    /// The arguments, as PostgreSQL names a function.
    static let signature = "backscroll_send(text, text, text, text, jsonb)"

    private static let largest = "\((Int64(1) << RowKey.ordinalBits) - 1)"

    /// The statements that create the first version.
    static let first = statements(create("CREATE", beforeRepeatedSends: "", beforeBlocks: ""))

    /// The statements that replace it by the second version, which keeps its owner and the rights to execute it.
    static let second = statements(
        create(
            "CREATE OR REPLACE",
            beforeRepeatedSends: """

                    -- As with a node, a ban from reading refuses repeated sends, too.
                    IF EXISTS (SELECT 1 FROM bans WHERE bans.room = \(RowKey.server)
                        AND bans."user" = backscroll_send.sender AND bans.reads = 1
                        AND (bans.until IS NULL OR bans.until > stamp)) THEN
                        \(refuse("SB403", "banned", "The sender is banned from the server."))
                    END IF;
                """,
            beforeBlocks: """

                    -- A user with a boundary in the room is a new one with the id of the erased user.
                    IF backscroll_send.sender IN (target.direct_first, target.direct_second) AND EXISTS (
                        SELECT 1 FROM erasures
                        WHERE erasures."user" IN (target.direct_first, target.direct_second) AND erased = 0
                            AND NOT EXISTS (SELECT 1 FROM returns
                                WHERE returns."user" = erasures."user" AND returns.room = target.id)) THEN
                        \(refuse("SB422", "direct_room", "The other user of this direct room is being erased."))
                    END IF;
                """))

    private static func statements(_ create: String) -> [String] {
        [
            create,
            // The rights of its owner must not lead to objects of others. A literal with a backslash has one meaning.
            """
            DO $do$ BEGIN
                EXECUTE format(
                    'ALTER FUNCTION \(signature) SET search_path = pg_catalog, %I, pg_temp', current_schema());
            END $do$
            """,
            "ALTER FUNCTION \(signature) SET standard_conforming_strings = on",
            "REVOKE ALL ON FUNCTION \(signature) FROM PUBLIC",
        ]
    }

    /// Returns the statement that fails with an error of the API.
    private static func refuse(_ state: String, _ code: String, _ detail: String) -> String {
        """
        RAISE EXCEPTION USING ERRCODE = '\(state)', MESSAGE = '\(code): \(detail)';
        """
    }

    /// Returns the statement that creates a version, with checks that it has before repeated sends, and before blocks.
    private static func create(_ verb: String, beforeRepeatedSends: String, beforeBlocks: String) -> String {
        """
        \(verb) FUNCTION backscroll_send(
            room text, sender text, client_message_id text, text text, data jsonb DEFAULT NULL,
            OUT seq bigint, OUT rev bigint, OUT created boolean
        ) LANGUAGE plpgsql SECURITY DEFINER AS $function$
        #variable_conflict use_column
        DECLARE
            target record;
            stored record;
            document jsonb;
            compact text := '';
            brackets text;
            changes text;
            event bigint;
            body bytea;
            stamp bigint := floor(extract(epoch FROM clock_timestamp()) * 1000);
        BEGIN
            IF backscroll_send.sender IS NULL
                OR octet_length(backscroll_send.sender) NOT BETWEEN 1 AND \(UserID.maximumBytes)
                OR backscroll_send.sender IN ('.', '..', '\(UserID.deleted)')
                OR backscroll_send.sender COLLATE "C" ~ '\(notInUserID)' THEN
                \(refuse("SB422", "invalid_user", "The sender is not a user id."))
            END IF;
            IF octet_length(backscroll_send.client_message_id) NOT BETWEEN 1 AND \(Limits.clientMessageIDBytes)
                OR backscroll_send.client_message_id IN ('.', '..') THEN
                \(refuse("SB422", "invalid_field",
                    "client_message_id must have 1 to \(Limits.clientMessageIDBytes) bytes, and not be . or .."))
            END IF;
            IF backscroll_send.text IS NULL OR backscroll_send.text COLLATE "C" ~ '\(blank)' THEN
                \(refuse("SB422", "empty_message", "The message has no text that shows something."))
            END IF;
            IF octet_length(backscroll_send.text) > \(Limits.textBytes) THEN
                \(refuse("SB422", "too_long", "text has more than \(Limits.textBytes) bytes."))
            END IF;
            IF jsonb_typeof(backscroll_send.data) NOT IN ('object', 'null') THEN
                \(refuse("SB422", "invalid_field", "data must be an object."))
            END IF;
            IF jsonb_typeof(backscroll_send.data) = 'object' AND backscroll_send.data <> '{}' THEN
                -- Strings stay as they are; of a separator, the space after it goes.
                compact := regexp_replace(
                    backscroll_send.data::text, '("(?:[^"\\\\]|\\\\.)*")|([:,]) ', '\\1\\2', 'g');
                IF octet_length(compact) > \(Limits.dataBytes) THEN
                    \(refuse("SB422", "too_long", "data has more than \(Limits.dataBytes) bytes."))
                END IF;
                brackets := regexp_replace(
                    regexp_replace(compact, '"(?:[^"\\\\]|\\\\.)*"', '', 'g'), '[^][{}]', '', 'g');
                FOR level IN 1..\(Limits.dataDepth) LOOP
                    EXIT WHEN brackets = '';
                    brackets := regexp_replace(brackets, '\\{\\}|\\[\\]', '', 'g');
                END LOOP;
                IF brackets <> '' THEN
                    \(refuse("SB422", "too_deep", "data is nested more than \(Limits.dataDepth) levels deep."))
                END IF;
            END IF;

            -- Everything that is read from here on is as of after the wait for the lock.
            SELECT rooms.id, rooms.head, rooms.rev, rooms.deleted, rooms.active_at, direct_first, direct_second
            INTO target FROM rooms WHERE rooms.name = backscroll_send.room FOR NO KEY UPDATE;
            IF NOT FOUND THEN
                \(refuse("SB404", "room_not_found", "There is no such room."))
            END IF;
            IF target.deleted = 1 THEN
                \(refuse("SB410", "room_deleted", "The room was deleted."))
            END IF;\(beforeRepeatedSends)
            -- What belongs to the erased user, and what to a new one with this id, is for nodes to decide.
            IF EXISTS (SELECT 1 FROM erasures WHERE erasures."user" = backscroll_send.sender AND erased = 0) THEN
                \(refuse("SB503", "unavailable", "The sender is being erased. Try again later."))
            END IF;

            IF backscroll_send.client_message_id IS NOT NULL THEN
                SELECT messages.id, messages.rev, messages.changed, messages.body INTO stored FROM messages
                WHERE messages.id >> \(RowKey.ordinalBits) = target.id AND messages.sender = backscroll_send.sender
                    AND messages.client_message_id = backscroll_send.client_message_id;
                IF FOUND THEN
                    BEGIN
                        document := convert_from(stored.body, 'UTF8')::jsonb;
                    EXCEPTION WHEN data_exception THEN
                        document := '{"attachments":[]}';  -- no content of this function
                    END;
                    -- A message that was changed since has no content to compare with.
                    IF NOT document ?| ARRAY['edited_at', 'deleted']
                        AND NOT EXISTS (SELECT 1 FROM first_contents WHERE first_contents.message = stored.id)
                        AND (document ?| ARRAY['attachments', 'reply_to', 'mentions', 'mentions_room', 'silent']
                            OR document->>'text' IS DISTINCT FROM backscroll_send.text
                            OR coalesce(document->'data', '{}') <> coalesce(nullif(backscroll_send.data, 'null'), '{}'))
                    THEN
                        \(refuse("SB422", "client_message_id_reused",
                            "This client_message_id was already used with other content."))
                    END IF;
                    seq := stored.id & \(largest);
                    rev := coalesce(stored.changed & \(largest), stored.rev);
                    created := false;
                    RETURN;
                END IF;
            END IF;

            -- As with a node, all other rules come after the repeated sends, which were accepted.
            IF '\(UserID.deleted)' IN (target.direct_first, target.direct_second) THEN
                \(refuse("SB422", "direct_room", "One of the two users of this direct room was erased."))
            END IF;\(beforeBlocks)
            IF backscroll_send.sender IN (target.direct_first, target.direct_second) AND EXISTS (
                SELECT 1 FROM blocks WHERE blocks.blocked = backscroll_send.sender
                    AND blocks."user" IN (target.direct_first, target.direct_second)) THEN
                \(refuse("SB403", "blocked", "The other user has blocked the sender."))
            END IF;
            IF EXISTS (SELECT 1 FROM bans WHERE bans.room = \(RowKey.server) AND bans."user" = backscroll_send.sender
                AND (bans.until IS NULL OR bans.until > stamp)) THEN
                \(refuse("SB403", "banned", "The sender is banned from the server."))
            END IF;
            IF greatest(target.head, target.rev) >= \(largest) THEN
                \(refuse("SB503", "unavailable", "The room is full."))
            END IF;
            seq := target.head + 1;
            rev := target.rev + 1;
            created := true;
            stamp := greatest(stamp, target.active_at);
            body := convert_to(
                '{"room":"' || backscroll_send.room || '","seq":' || seq || ',"rev":' || rev
                || ',"sender":' || to_json(backscroll_send.sender)::text
                || coalesce(',"client_message_id":' || to_json(backscroll_send.client_message_id)::text, '')
                || ',"text":' || to_json(backscroll_send.text)::text
                || CASE WHEN compact = '' THEN '' ELSE ',"data":' || compact END
                || ',"created_at":"'
                || to_char(to_timestamp(stamp / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.')
                || lpad((stamp % 1000)::text, 3, '0') || 'Z"}', 'UTF8');
            INSERT INTO messages (id, rev, created_at, sender, client_message_id, body)
            VALUES (target.id << \(RowKey.ordinalBits) | seq, backscroll_send.rev, stamp, backscroll_send.sender,
                backscroll_send.client_message_id, body);
            UPDATE rooms SET head = backscroll_send.seq, rev = backscroll_send.rev, active_at = stamp,
                bytes = rooms.bytes + octet_length(body)
            WHERE rooms.id = target.id;
            UPDATE members SET engaged = 1
            WHERE members.room = target.id AND members."user" = backscroll_send.sender AND engaged = 0;
            IF target.direct_first IS NOT NULL THEN
                -- The message brings the room into the lists of both.
                WITH shown AS (
                    UPDATE members SET hidden = 0 WHERE members.room = target.id AND hidden = 1 RETURNING members."user"
                )
                SELECT string_agg(concat_ws(' ', 'joined', shown."user", backscroll_send.room, target.rev), chr(10))
                INTO changes FROM shown;
                IF changes IS NOT NULL THEN
                    UPDATE server SET events = server.events + 1 RETURNING server.events INTO event;
                    INSERT INTO events (id, node, revocation, payload, at) VALUES (event, 'sql', 0, changes, stamp);
                END IF;
            END IF;
            PERFORM pg_notify(
                'backscroll',
                'h sql ' || CASE WHEN event IS NULL THEN '' ELSE '@ ' END || backscroll_send.room || ':' || rev);
        END
        $function$
        """
    }
}
