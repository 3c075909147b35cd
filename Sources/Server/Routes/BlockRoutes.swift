import Chat
import Wire

/// The users whom the caller blocks.
enum BlockRoutes {
    /// `GET /v1/blocks`
    static func blocks(_ request: RoutedRequest) throws(Problem) {
        let after = try request.afterUser()
        let limit = try request.limit(maximum: Limits.blocks, default: Limits.defaultBlocks)
        request.ask({ .own(.blocks(after: after, limit: limit, $0)) }) { blocks in
            request.answerJSON { blocks.encode(into: &$0) }
        }
    }

    /// `PUT /v1/blocks/{user}`
    static func set(_ request: RoutedRequest) throws(Problem) {
        try submit(request, true) { receipt in request.answerRecord(of: receipt) }
    }

    /// `DELETE /v1/blocks/{user}`
    static func remove(_ request: RoutedRequest) throws(Problem) {
        try submit(request, false) { _ in request.answerNoContent() }
    }

    /// Submits the change to the direct room of the two, which the block closes, whether or not it exists.
    private static func submit(
        _ request: RoutedRequest, _ isBlocked: Bool, then: @escaping (Receipt) -> Void
    ) throws(Problem) {
        let (user, other) = (try request.caller.named(), request.user)
        try request.submit(.room(.setBlock(other, isBlocked)), to: .direct(user, other)) { receipt in
            if receipt.isNew { request.worker.notifyOwn(.block(user: other, blocked: isBlocked), of: user) }
            then(receipt)
        }
    }
}
