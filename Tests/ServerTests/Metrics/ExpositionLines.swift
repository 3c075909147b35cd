@testable import Server

extension PrometheusRegistry {
    /// The exposition as a string.
    var text: String {
        String(decoding: exposition(), as: UTF8.self)
    }

    /// The samples in the exposition.
    var samples: [String] {
        text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
    }
}
