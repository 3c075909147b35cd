import Testing
import Wire

@testable import Chat

@Suite("A change to a message")
struct MessageChangeTests {
    /// A change, and the message it applies to.
    struct Case: CustomTestStringConvertible {
        var action: MessageChange.Action
        var user = "alice"
        var isOwner = false
        var deleted = false
        var revs: [Int64]?
        var testDescription: String { "\(action) by \(user), deleted \(deleted), at \(revs ?? [])" }
    }

    private func takesEffect(_ asked: Case) throws -> Bool {
        let message = Message(
            room: try RoomID("lobby"), seq: 1, rev: 7, sender: try UserID("alice"), content: Content(text: "hi"),
            createdAt: Timestamp(milliseconds: 0), deleted: asked.deleted)
        let change = MessageChange(seq: 1, action: asked.action, revs: asked.revs)
        return try Rules.takesEffect(change, on: message, by: UserID(asked.user), isOwner: asked.isOwner)
    }

    private static let like = try! ReactionKey("+1")

    @Test(arguments: [
        Case(action: .edit(Edit())), Case(action: .edit(Edit()), revs: [6, 7]), Case(action: .delete),
        Case(action: .delete, isOwner: true), Case(action: .delete, user: "bob", isOwner: true),
        Case(action: .addReaction(like), user: "bob"), Case(action: .removeReaction(like), user: "bob", revs: [7]),
    ])
    func `is allowed`(asked: Case) throws {
        #expect(try takesEffect(asked))
    }

    @Test(arguments: [
        Case(action: .delete, deleted: true), Case(action: .delete, deleted: true, revs: [1]),
        Case(action: .delete, user: "bob", isOwner: true, deleted: true),
        Case(action: .removeReaction(like), user: "bob", deleted: true),
    ])
    func `is already done`(asked: Case) throws {
        #expect(try !takesEffect(asked))
    }

    @Test(
        arguments: [
            (Case(action: .edit(Edit()), user: "bob"), .notTheSender),
            (Case(action: .edit(Edit()), user: "bob", deleted: true, revs: []), .notTheSender),
            (Case(action: .delete, user: "bob", deleted: true), .notTheSender),
            (Case(action: .edit(Edit()), deleted: true, revs: [1]), .messageDeleted),
            (Case(action: .addReaction(like), user: "bob", deleted: true), .messageDeleted),
            (Case(action: .edit(Edit()), revs: []), .preconditionFailed(rev: 7)),
            (Case(action: .delete, user: "bob", isOwner: true, revs: [6, 8]), .preconditionFailed(rev: 7)),
        ] as [(Case, Problem)])
    func `is refused`(asked: Case, problem: Problem) {
        #expect(throws: problem) { try takesEffect(asked) }
    }
}
