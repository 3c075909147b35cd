extension BackscrollClient {
    /// The account in the store; nil if the server's URL is invalid.
    func account(of user: String) -> StoreAccount? {
        (try? server.get()).map { StoreAccount(server: $0.url(""), user: user) }
    }

    /// Returns the account by which a store knows the user.
    public func storeAccount() async throws(BackscrollClientError) -> StoreAccount {
        StoreAccount(server: try server.get().url(""), user: try await userID())
    }

    /// Returns the ids of the rooms with sends that the server has neither confirmed nor refused, oldest send first.
    /// Opening such a room sends them.
    ///
    /// - Returns: an empty list without a store.
    public func roomsWithUnsentMessages() async throws(BackscrollClientError) -> [String] {
        guard let store else { return [] }
        return try await store.roomsWithSends(of: try await storeAccount())
    }
}
