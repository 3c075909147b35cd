import HTTP
import HTTPTypes

/// Reads HTTP responses. A 2xx status acknowledges a request.
struct ResponseReader: AnswerReader {
    private var parser = ResponseParser(limits: Self.limits, keeping: [])

    /// Large enough for a page of 200 messages of 16 KiB each.
    private static let limits: HTTPLimits = {
        var limits = HTTPLimits()
        limits.bodyBytes = 16 << 20
        return limits
    }()

    mutating func append(_ bytes: Span<UInt8>) {
        parser.append(bytes)
    }

    mutating func next() -> Answer? {
        do throws(ResponseRefusal) {
            guard case .response(let response) = try parser.next() else { return nil }
            return Answer(response)
        } catch {
            return Answer(outcome: .unknown(reason: "the answer cannot be understood: \(error)"), endsConnection: true)
        }
    }

    mutating func finish() -> Answer? {
        // A response may last until the connection ends.
        guard let response = try? parser.finish() else { return nil }
        return Answer(response)
    }
}

extension Answer {
    fileprivate init(_ response: Response) {
        let code = response.status.code
        if response.status.kind == .successful {
            outcome = .accepted(isRepeat: code == 200)
        } else {
            outcome = .refused(reason: response.refusalText, mayPass: code >= 500 || code == 429)
        }
        contentBytes = response.body.count
        endsConnection = !response.keepAlive
    }
}
