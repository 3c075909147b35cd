import Logging

extension LogEvent {
    /// All that goes with a message. Of values under one key, that of the message itself counts, then the provider's,
    /// then the logger's. An error is `error.message` and `error.type`, as swift-log's own handlers have it.
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
