import Chat
import HTTP
import HTTPTypes
import Wire

/// Changes that admins make to users.
extension Exchange {
    /// `GET` and `DELETE /v1/users/{user}`
    func serveUser(_ user: UserID, _ target: DecodedTarget) throws(Problem) {
        let caller = try admin(target)
        guard request.method == .delete else { return answerErasure(of: user, for: caller) }
        try admit(.changes, by: try caller.named())
        try submit(.user(user, .erase), by: caller) { [self] in answer($0, .accepted) }
    }

    private func answerErasure(of user: UserID, for caller: Identity) {
        ask(for: caller, { .server(.erasure(user, $0)) }) { [self] status in
            guard let status else { return answer(.erasureNotFound) }
            answer { status.encode(into: &$0) }
        }
    }
}
