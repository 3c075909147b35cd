"""Small faults of the source, each with the test that claims to find it."""

import dataclasses


@dataclasses.dataclass
class Mutation:
    name: str
    check: str
    file: str
    old: str
    new: str


# A scenario that was not played to its end has no cuts.
POWER = r"not ok - power: .*: [1-9]\d* cuts in "

# The product that each test runs, the test's command, and a pattern of the line that it prints if it has found something.
CHECKS = {
    "simulate": ("backscroll-simulate", ["PROGRAM", "--seeds", "120", "--first", "1"], r"not ok - seed \d+: "),
    "test-power": ("backscroll", ["scripts/test-power", "--only", "service", "--cuts", "30", "--seed", "1"], POWER),
    "test-power, of a backup": ("backscroll", ["scripts/test-power", "--only", "backup", "--cuts", "60", "--seed", "1"], POWER),
    "test-power, of a conversion": (
        "backscroll", ["scripts/test-power", "--only", "conversion", "--cuts", "60", "--seed", "1"], POWER),
    "test-power, after a failed sync": (
        "backscroll", ["scripts/test-power", "--only", "failed", "--cuts", "60", "--seed", "1"], POWER),
    "test-rot": ("backscroll", ["scripts/test-rot", "--seed", "1"], r"not ok - rot: "),
}

MUTATIONS = [
    Mutation(
        "a hint moves the position without a look", "simulate", "Sources/Nodes/FeedPositions.swift",
        "if let known = position.state, rev > known.rev { makeDue(room, &position) }",
        "if let known = position.state, rev > known.rev { position.state = RoomState(head: known.head, rev: rev) }"),
    Mutation(
        "a batch takes two sends with one client message id", "simulate", "Sources/Nodes/SendBatch.swift",
        "guard !repeated.contains(key), keys.insert(key).inserted else { continue }",
        "guard !repeated.contains(key), keys.insert(key).inserted || true else { continue }"),
    Mutation(
        "a client takes an older revision of a message", "simulate", "Sources/Timeline/MessageWindow.swift",
        "guard message.rev > known.rev else { return nil }", "guard message.rev != known.rev else { return nil }"),
    Mutation(
        "a cursor is one revision before its slice", "simulate", "Sources/Chat/Feed/Feed+Delivery.swift",
        "cursors[index].rev = max(cursors[index].rev, slice.rev)", "cursors[index].rev = slice.rev - 1"),
    Mutation(
        "a send does not look for its client message id", "simulate", "Sources/Chat/Decision/Rules+Sends.swift",
        "if head != nil, draft.clientMessageID != nil {",
        "if head != nil, draft.clientMessageID != nil, draft.clientMessageID == \"\" {"),
    Mutation(
        "a send does not check that its sender may send", "simulate", "Sources/Chat/Decision/Rules+Sends.swift",
        "        try checkChange(submission)\n        try checkReply(draft)", "        try checkReply(draft)"),
    Mutation(
        "a node applies revocations without telling its feeds", "simulate", "Sources/Nodes/AccessState.swift",
        "applied(memberships: news.memberships, ends: news.ends)", "applied(memberships: news.memberships, ends: [])"),
    Mutation(
        "a ban from the server ends no subscription", "simulate", "Sources/Chat/Decision/Write.swift",
        "case (.setBan(let ban), _) where ban.scope == .all: .banned(ban, from: room)",
        "case (.setBan(let ban), let room?) where ban.scope == .all: .banned(ban, from: room)"),
    Mutation(
        "a room that becomes private ends no subscription", "simulate", "Sources/Chat/Decision/Write.swift",
        "case (.setRoom(_, endsAccess: true), let room?): .becamePrivate(room)",
        "case (.setRoom(_, endsAccess: true), _): nil"),
    Mutation(
        "sends by owners only are no restriction", "simulate", "Sources/Chat/Decision/RoomFacts.swift",
        "visibility == .private || posting == .owners || slowSeconds ?? 0 > 0", "visibility == .private || slowSeconds ?? 0 > 0"),
    Mutation(
        "a feed skips a message", "simulate", "Sources/Chat/Feed/ByteLog.swift",
        "guard let revs else { return Int(rev - start) }", "guard let revs else { return Int(rev - start) + (rev > start ? 1 : 0) }"),
    Mutation(
        "commits after a step of the search index do not sync the log", "test-power", "Sources/Store/SQLite/Search/SearchIndex.swift",
        'defer { try? db.execute("PRAGMA synchronous = FULL") }', 'defer { try? db.execute("PRAGMA synchronous = NORMAL") }'),
    Mutation(
        "a backup is not synced", "test-power, of a backup", "Sources/Store/SQLite/Open/TemporaryFile.swift",
        "guard fsync(descriptor) == 0 else { throw Errno() }", "guard descriptor >= 0 else { throw Errno() }"),
    Mutation(
        "a copy with checksums is not synced", "test-power, of a conversion", "Sources/Store/SQLite/Checksums/ChecksumUpgrade.swift",
        "try sync(complete)", "_ = complete"),
    Mutation(
        "a log that is left over is not synced before it is used", "test-power, after a failed sync",
        "Sources/Store/SQLite/Open/DatabaseFile+Connecting.swift", "try LogRewrite.rewrite(of: db, at: location)", "_ = location"),
    Mutation(
        "a page is not compared with its checksum", "test-rot", "Sources/SQLiteChecksums/checksums.c",
        "if (backscroll_page_state(page, bytes) != PAGE_RIGHT) {", "if (backscroll_page_state(page, bytes) == PAGE_WITHOUT_CHECKSUM) {"),
]
