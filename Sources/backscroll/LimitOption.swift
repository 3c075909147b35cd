import ArgumentParser
import Server

/// A limit on the command line: `50/s`, `50/s:200`, or `off`.
struct LimitOption: ExpressibleByArgument, CustomStringConvertible {
    static let off = LimitOption(limit: nil)

    let limit: RateLimit?

    private init(limit: RateLimit?) {
        self.limit = limit
    }

    init?(argument: String) {
        if argument == "off" {
            self = .off
        } else if let limit = RateLimit(argument) {
            self.limit = limit
        } else {
            return nil
        }
    }

    var description: String { limit?.description ?? "off" }
}
