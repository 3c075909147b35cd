import Chat
import Wire

extension Submission {
    /// An estimate of its bytes.
    var byteCount: Int {
        switch change {
        case .send(let draft): draft.content.byteCount + (draft.original?.byteCount ?? 0)
        case .change(let change):
            switch change.action {
            case .edit(let edit):
                (edit.text?.utf8.count ?? 0) + (edit.data?.count ?? 0) + (edit.attachments?.byteCount ?? 0)
                    + (edit.mentions?.byteCount ?? 0)
            case .delete, .addReaction, .removeReaction, .pin, .unpin: 0
            }
        case .user(_, .setProfile(let settings)):
            (settings.name?.utf8.count ?? 0) + (settings.avatar?.utf8.count ?? 0) + (settings.data?.count ?? 0)
        case .read, .room, .user: 0
        }
    }
}

extension Content {
    /// An estimate of its bytes.
    fileprivate var byteCount: Int {
        text.utf8.count + data.count + (attachments.isEmpty ? 0 : attachments.byteCount)
            + (mentions.isEmpty ? 0 : mentions.users.byteCount)
    }
}

extension Attachment {
    /// An estimate of its bytes in JSON: its strings, and 128 for numbers and names.
    fileprivate var byteCount: Int {
        var count = url.utf8.count + 128
        for string in [mime, title, description, thumbhash] { count += string?.utf8.count ?? 0 }
        return count
    }
}

extension [UserID] {
    /// An estimate of their bytes.
    fileprivate var byteCount: Int { reduce(0) { $0 + $1.string.utf8.count } }
}

extension [Attachment] {
    /// An estimate of their bytes.
    fileprivate var byteCount: Int { reduce(0) { $0 + $1.byteCount } }
}
