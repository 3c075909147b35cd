import Wire

/// The expected state of a room after sends and changes, computed on a list.
struct ChangeModel {
    struct Message {
        let sender: String
        let id: String?
        let first: String
        var text: String
        var rev: Int64
        var isEdited = false
        var isDeleted = false
        var reactions: [(key: String, users: [String])] = []
    }

    /// A request to the room.
    enum Request {
        case send(text: String, sender: String, id: String?)
        case edit(Int64, text: String, user: String)
        case delete(Int64, user: String)
        case react(Int64, key: String, user: String)
        case unreact(Int64, key: String, user: String)
    }

    private(set) var messages: [Message] = []
    private(set) var rev: Int64 = 0

    /// Carries out a request.
    ///
    /// - Returns: The message's `seq`, or the code of the refusal.
    mutating func apply(_ request: Request) -> Result<Int64, CodeError> {
        switch request {
        case .send(let text, let sender, let id):
            if let id, let index = messages.firstIndex(where: { $0.sender == sender && $0.id == id }) {
                guard messages[index].first == text else { return .failure(CodeError("client_message_id_reused")) }
                return .success(Int64(index + 1))
            }
            rev += 1
            messages.append(Message(sender: sender, id: id, first: text, text: text, rev: rev))
            return .success(Int64(messages.count))
        case .edit(let seq, let text, let user):
            return change(seq, by: user, onTombstone: "message_deleted") { message in
                defer { message.text = text }
                if message.text != text { message.isEdited = true }
                return message.text != text
            }
        case .delete(let seq, let user):
            return change(seq, by: user, onTombstone: nil) { message in
                message.isDeleted = true
                message.reactions = []
                return true
            }
        case .react(let seq, let key, let user):
            return change(seq, by: nil, onTombstone: "message_deleted") { message in
                guard let index = message.reactions.firstIndex(where: { $0.key == key }) else {
                    message.reactions.append((key, [user]))
                    return true
                }
                if message.reactions[index].users.contains(user) { return false }
                message.reactions[index].users.append(user)
                return true
            }
        case .unreact(let seq, let key, let user):
            return change(seq, by: nil, onTombstone: nil) { message in
                guard let index = message.reactions.firstIndex(where: { $0.key == key && $0.users.contains(user) })
                else { return false }
                message.reactions[index].users.removeAll { $0 == user }
                message.reactions.removeAll { $0.users.isEmpty }
                return true
            }
        }
    }

    private mutating func change(
        _ seq: Int64, by user: String?, onTombstone code: String?, _ body: (inout Message) -> Bool
    ) -> Result<Int64, CodeError> {
        guard seq >= 1, seq <= messages.count else { return .failure(CodeError("message_not_found")) }
        let index = Int(seq) - 1
        // The sender of the first message owns the room and may delete any message; tombstones are already deleted.
        let mayDelete = code == nil && user == messages[0].sender
        if let user, messages[index].sender != user, !mayDelete { return .failure(CodeError("not_the_sender")) }
        if messages[index].isDeleted { return code.map { .failure(CodeError($0)) } ?? .success(seq) }
        if body(&messages[index]) {
            rev += 1
            messages[index].rev = rev
        }
        return .success(seq)
    }

    /// Returns true if a snapshot matches the message at `seq`.
    func matches(_ snapshot: Wire.Message, _ seq: Int64) -> Bool {
        let message = messages[Int(seq) - 1]
        let reactions = message.reactions.map { reaction in
            "\(reaction.key) \(reaction.users.count) \(reaction.users.prefix(50))"
        }
        return snapshot.seq == seq && snapshot.rev == message.rev && snapshot.sender.string == message.sender
            && snapshot.clientMessageID == message.id && snapshot.deleted == message.isDeleted
            && snapshot.content.text == (message.isDeleted ? "" : message.text)
            && (snapshot.editedAt != nil) == (message.isEdited && !message.isDeleted)
            && snapshot.reactions.map { "\($0.key) \($0.count) \($0.users.map(\.string))" } == reactions
    }
}

/// The code of a refusal.
struct CodeError: Error, Equatable {
    let code: String

    init(_ code: String) {
        self.code = code
    }
}
