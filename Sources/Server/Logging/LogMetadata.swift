import Logging

extension LogEvent {
    /// Returns all metadata of a message. For equal keys, the message's own value wins over the provider's, which wins
    /// over the logger's. An error becomes `error.message` and `error.type`, as in swift-log's own handlers.
    func metadata(with base: Logger.Metadata, from provider: Logger.MetadataProvider?) -> Logger.Metadata {
        var all = base
        if let provider { all.merge(provider.get()) { $1 } }
        if let metadata { all.merge(metadata) { $1 } }
        if let error {
            all["error.message"] = "\(error)"
            all["error.type"] = "\(String(reflecting: type(of: error)))"
        }
        return all
    }
}
