import HTTPTypes

/// The reason why a response cannot be understood. The connection is of no further use.
public struct ResponseRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The rule that was broken, as a stable word for programs.
    public let code: String
    /// The rule that was broken, as a sentence for people.
    public let detail: String

    /// The code and the sentence.
    public var description: String { "\(code): \(detail)" }

    /// Fields, chunks and lengths obey the same rules as in requests. The status has no meaning for a client.
    init(_ refusal: RequestRefusal) {
        code = refusal.code
        detail = refusal.detail
    }
}

// MARK: What only a response can get wrong

extension RequestRefusal {
    static let statusLineInvalid = RequestRefusal(
        .badGateway, "status_line_invalid",
        "The status line is not HTTP/1.1 or HTTP/1.0, a space, three digits, a space and a phrase.")

    static func tooManyInterimResponses(limit: Int) -> RequestRefusal {
        RequestRefusal(
            .badGateway, "too_many_interim_responses", "There are more than \(limit) responses of class 1xx in a row.")
    }

    static let responseCutOff = RequestRefusal(
        .badGateway, "response_cut_off", "The connection ended before the response did.")
}
