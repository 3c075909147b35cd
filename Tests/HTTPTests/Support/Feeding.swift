import HTTPTypes

@testable import HTTP

/// The events of a parser in a comparable form: the requests, then the refusal if there was one.
struct Outcome: Equatable, CustomStringConvertible {
    struct Summary: Equatable {
        var method: String
        var path: String?
        var authority: String?
        var fields: [String]
        var body: String
        var bodyBytes: Int
        var minorVersion: Int
        var keepAlive: Bool

        init(_ request: Request) {
            method = request.head.method.rawValue
            path = request.head.path
            authority = request.head.authority
            fields = request.head.headerFields.map { "\($0.name.canonicalName): \($0.value)" }
            body = String(decoding: request.body, as: UTF8.self)
            bodyBytes = request.body.count
            minorVersion = request.minorVersion
            keepAlive = request.keepAlive
        }
    }

    var requests: [Summary] = []
    var refusal: RequestRefusal?
    var continues = 0

    var description: String {
        requests.map { "\($0.method) \($0.path ?? "-") \($0.body.utf8.count)" }.joined(separator: ", ")
            + (refusal.map { " refused: \($0)" } ?? "")
    }

    /// The outcome without the number of continue events, which depends on how the bytes were cut.
    var withoutContinues: Outcome {
        var outcome = self
        outcome.continues = 0
        return outcome
    }
}

/// Feeds pieces one after the other, and takes events after each.
func feed(_ pieces: [[UInt8]], limits: HTTPLimits = HTTPLimits()) -> Outcome {
    var parser = RequestParser(limits: limits)
    return feed(pieces, to: &parser)
}

func feed(_ pieces: [[UInt8]], to parser: inout RequestParser) -> Outcome {
    var outcome = Outcome()
    for piece in pieces {
        parser.append(piece.span)
        do {
            events: while true {
                switch try parser.next() {
                case .needMoreBytes: break events
                case .sendContinue: outcome.continues += 1
                case .request(let request): outcome.requests.append(Outcome.Summary(request))
                }
            }
        } catch {
            outcome.refusal = error
        }
    }
    return outcome
}

/// Feeds the text in one piece.
func feed(_ text: String, limits: HTTPLimits = HTTPLimits()) -> Outcome {
    feed([Array(text.utf8)], limits: limits)
}

/// Feeds the bytes one by one.
func drip(_ bytes: [UInt8], limits: HTTPLimits = HTTPLimits()) -> Outcome {
    feed(bytes.map { [$0] }, limits: limits)
}

/// Returns the only request in the text; `nil` if there is a refusal or another number of requests.
func onlyRequest(in text: String, limits: HTTPLimits = HTTPLimits()) -> Request? {
    var parser = RequestParser(limits: limits)
    parser.append(Array(text.utf8).span)
    guard case .request(let request)? = try? parser.next(), case .needMoreBytes? = try? parser.next(),
        parser.buffer.count == 0
    else { return nil }
    return request
}

/// Returns the status and code that the text is refused with, whether it arrives at once or byte by byte.
func refusal(_ text: String, limits: HTTPLimits = HTTPLimits()) -> String? {
    let whole = feed(text, limits: limits)
    let dripped = drip(Array(text.utf8), limits: limits)
    guard whole.withoutContinues == dripped.withoutContinues else { return "whole \(whole), dripped \(dripped)" }
    return whole.refusal.map { "\($0.status.code) \($0.code)" }
}

/// Returns a complete HTTP/1.1 request with these lines in its head.
func head(_ lines: String...) -> String {
    "GET / HTTP/1.1\r\nHost: h\r\n" + lines.map { $0 + "\r\n" }.joined() + "\r\n"
}
