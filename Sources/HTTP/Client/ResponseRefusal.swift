import HTTPTypes

/// The reason why a response cannot be parsed. The connection is no longer usable.
public struct ResponseRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The rule that was broken, as a stable word for programs.
    public let code: String
    /// The rule that was broken, as a sentence for people.
    public let detail: String

    /// The code and the sentence.
    public var description: String { "\(code): \(detail)" }

    /// Converts a refusal by a rule that requests and responses share: fields, chunks and lengths. A client ignores its
    /// status.
    init(_ refusal: RequestRefusal) {
        code = refusal.code
        detail = refusal.detail
    }
}

// MARK: Rules for responses only

extension RequestRefusal {
    static let statusLineInvalid = RequestRefusal(
        .badGateway, "status_line_invalid",
        "The status line must be: HTTP/1.1 or HTTP/1.0, a space, three digits, a space, a phrase.")

    static func tooManyInterimResponses(limit: Int) -> RequestRefusal {
        RequestRefusal(
            .badGateway, "too_many_interim_responses", "There are more than \(limit) responses of class 1xx in a row.")
    }

    static let responseCutOff = RequestRefusal(
        .badGateway, "response_cut_off", "The connection ended before the response did.")
}
