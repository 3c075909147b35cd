/// The user and the user's token.
extension BackscrollClient {
    /// Returns the user's id.
    public func userID() async throws(BackscrollClientError) -> String {
        switch user {
        case .name(let name): return name
        case .token:
            _ = try await currentToken()
            guard let token else { throw .isClosed }
            return token.claims.user
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
    func renewedToken() async throws(BackscrollClientError) -> String {
        guard case .token(let make) = user else { throw .isClosed }
        if let renewal { return try await renewal.value.get() }
        let task = Task<Result<String, BackscrollClientError>, Never> {
            do {
                return .success(try await make())
            } catch {
                return .failure(
                    BackscrollClientError(
                        code: BackscrollClientError.tokenUnavailable, message: "The app has no token: \(error)"))
            }
        }
        renewal = task
        let result = await task.value
        renewal = nil
        let text = try result.get()
        guard var claims = TokenClaims(text) else {
            throw BackscrollClientError(
                code: BackscrollClientError.tokenUnavailable,
                message: "The app's token is no JSON Web Token with a `sub`.", status: 401)
        }
        // If a new token has already expired, this device's clock is wrong. The server then decides when it expires.
        if let expiry = claims.expiry, expiry <= options.clock.milliseconds() / 1000 { claims.expiry = nil }
        token = (text, claims)
        return text
    }

    /// Makes the next request ask for a new token, unless another one has already.
    func forgetToken(_ text: String) {
        if token?.text == text { token = nil }
    }
}
