/// The user and the user's token.
extension BackscrollClient {
    /// Returns the user's id. With tokens this is the user of the first one, for the life of the client.
    public func userID() async throws(BackscrollClientError) -> String {
        switch user {
        case .name(let name): return name
        case .token:
            if pinnedUser == nil { _ = try await currentToken() }
            guard let pinnedUser else { throw .isClosed }
            return pinnedUser
        }
    }

    /// Adds the user's name to a request in open mode. Returns the token otherwise.
    func authorize(_ request: inout TransportRequest) async throws(BackscrollClientError) -> String? {
        switch user {
        case .name(let name):
            request.target += (request.target.contains("?") ? "&" : "?") + "user=" + percentEncoded(name)
            return nil
        case .token:
            return try await currentToken()
        }
    }

    /// Returns a token that has not expired by this device's clock.
    func currentToken() async throws(BackscrollClientError) -> String {
        if let token {
            let expiry = token.claims.expiry ?? .max
            if expiry > options.clock.milliseconds() / 1000 { return token.text }
        }
        return try await renewedToken()
    }

    /// Asks for a new token. Calls at the same time share one.
    ///
    /// - Throws: `token_unavailable` also if none came within ``ClientOptions/requestTimeout``; `cancelled`. The app's
    ///   closure goes on, and later calls get its token.
    func renewedToken() async throws(BackscrollClientError) -> String {
        guard case .token(let make) = user, !isClosed else { throw .isClosed }
        let renewal =
            self.renewal
            ?? Task<Result<String, BackscrollClientError>, Never> { [weak self] in
                do {
                    let text = try await make()
                    return await self?.endRenewal(with: text) ?? .failure(.isClosed)
                } catch {
                    await self?.failRenewal()
                    return .failure(
                        BackscrollClientError(
                            code: BackscrollClientError.tokenUnavailable, message: "The app has no token: \(error)"))
                }
            }
        self.renewal = renewal
        let (results, continuation) = AsyncStream<Result<String, BackscrollClientError>>.makeStream()
        Task {
            continuation.yield(await renewal.value)
            continuation.finish()
        }
        let limit = Task { [options] in
            guard (try? await Task.sleep(for: options.requestTimeout)) != nil else { return }
            continuation.finish()
        }
        defer { limit.cancel() }
        for await result in results { return try result.get() }
        if Task.isCancelled { throw .isCancelled }
        throw BackscrollClientError(
            code: BackscrollClientError.tokenUnavailable,
            message: "The app's closure returned no token within \(options.requestTimeout).")
    }

    private func failRenewal() {
        renewal = nil
    }

    /// Checks a new token, and keeps it.
    private func endRenewal(with text: String) -> Result<String, BackscrollClientError> {
        renewal = nil
        guard var claims = TokenClaims(text) else {
            return .failure(
                BackscrollClientError(
                    code: BackscrollClientError.tokenUnavailable,
                    message: "The app's token is no JSON Web Token with a `sub`.", status: 401))
        }
        if let pinnedUser, claims.user != pinnedUser {
            // Drafts and the store belong to one user, so nothing of them may go out as another.
            return .failure(
                BackscrollClientError(
                    code: BackscrollClientError.otherUser,
                    message:
                        "The token is for \(claims.user), but this client is for \(pinnedUser). Close it, and create "
                        + "another client for the other user.", status: 401))
        }
        pinnedUser = claims.user
        // If a new token has already expired, this device's clock is wrong. The server then decides when it expires.
        if let expiry = claims.expiry, expiry <= options.clock.milliseconds() / 1000 { claims.expiry = nil }
        token = (text, claims)
        return .success(text)
    }

    /// Makes the next request ask for a new token, unless another one has already.
    func forgetToken(_ text: String) {
        if token?.text == text { token = nil }
    }
}
