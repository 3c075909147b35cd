import Chat
import HTTP
import Wire

/// The decoded path and query of a request.
struct DecodedTarget {
    /// The path's segments.
    let segments: [String]
    private let parameters: QueryParameters

    /// Decodes the target of a request.
    ///
    /// - Throws: 400 when an escape is invalid, or when the text is not UTF-8 or contains NUL.
    init(_ request: RequestHead) throws(Problem) {
        let target = request.target ?? Target("")
        do throws(RequestRefusal) {
            segments = try target.segments()
            parameters = try target.parameters()
        } catch {
            throw Problem(error, HTTPLimits())
        }
    }

    /// Returns the value of a query parameter; `nil` when it is absent.
    ///
    /// - Throws: 400 when it occurs more than once.
    func single(_ name: String) throws(Problem) -> String? {
        guard !parameters.isRepeated(name) else {
            var problem = Problem.badRequest("The parameter \(name) occurs more than once.")
            problem.field = name
            throw problem
        }
        return parameters[name]
    }
}

extension Problem {
    /// The problem that corresponds to a refusal of the HTTP codec.
    init(_ refusal: RequestRefusal, _ limits: HTTPLimits) {
        let limit: Int? =
            switch refusal.code {
            case "body_too_large": limits.bodyBytes
            case "head_too_large": limits.headBytes
            case "too_many_fields": limits.headerFields
            case "trailers_too_large": limits.trailerBytes
            case "target_too_long": limits.targetBytes
            case "method_too_long": limits.methodBytes
            case "chunk_extensions_too_long": limits.chunkExtensionBytes
            default: nil
            }
        self.init(code: Code(rawValue: refusal.code) ?? .badRequest, detail: refusal.detail, limit: limit)
    }

    /// 400, or 426 `upgrade_required`: the request is not a valid WebSocket handshake.
    static func handshakeRefused(status: Int, detail: String) -> Problem {
        Problem(
            code: status == 426 ? .upgradeRequired : .badRequest,
            detail: detail.prefix(1).uppercased() + detail.dropFirst() + ".")
    }
}
