public import HTTPTypes

/// The origins that may use the server from a browser: cross-origin resource sharing (WHATWG Fetch, section 3.2).
///
/// A policy decides on a request and returns the header fields that tell the browser. Requests without `Origin` are not
/// cross-origin; the policy lets them pass. If it allows any other origin, every answer has `Vary: Origin`, also those
/// without an origin and those that are refused. Otherwise a shared cache would give one page the answer to another.
public struct OriginPolicy: Sendable {
    /// The origins that are allowed besides the server's own.
    public enum Allowed: Sendable, Hashable {
        /// Every origin.
        case any
        /// Only these origins.
        case only(Set<Origin>)
    }

    /// The treatment of a request.
    public enum Decision: Sendable, Hashable {
        /// The request has no origin: serve it.
        case withoutOrigin
        /// The request comes from the server's own pages: serve it.
        case sameOrigin
        /// The origin is allowed: serve the request, with ``OriginPolicy/responseFields(for:)``.
        case allowed(Origin)
        /// The origin is not allowed: answer 403.
        case refused
    }

    /// The origins that are allowed.
    public let allowed: Allowed
    private let requestHeaders: String
    private let exposedHeaders: String

    /// The methods that pages may use.
    private static let methods = "GET, HEAD, POST, PUT, PATCH, DELETE"
    /// The seconds for which a browser may cache the answer to a preflight. Browsers cap them at one day or less.
    private static let maxAge = "86400"

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - allowed: the origins that are allowed besides the server's own.
    ///   - requestHeaders: the header fields that pages may send.
    ///   - exposedHeaders: the response fields that pages may read, besides those that are always readable.
    public init(
        allowed: Allowed,
        requestHeaders: [HTTPField.Name] = [.authorization, .contentType],
        exposedHeaders: [HTTPField.Name] = []
    ) {
        self.allowed = allowed
        self.requestHeaders = requestHeaders.map(\.rawName).joined(separator: ", ")
        self.exposedHeaders = exposedHeaders.map(\.rawName).joined(separator: ", ")
    }

    /// Decides on a request with these values of `Origin` and `Host`.
    ///
    /// A malformed origin is refused. `null` is treated like any other origin, since any page can cause it to be sent:
    /// it is allowed if it is listed or if every origin is.
    public func decide(origin: String?, host: String?) -> Decision {
        guard let origin else { return .withoutOrigin }
        guard let origin = Origin(origin) else { return .refused }
        if let host, origin.isSame(asHost: host) { return .sameOrigin }
        switch allowed {
        case .any: return .allowed(origin)
        case .only(let origins): return origins.contains(origin) ? .allowed(origin) : .refused
        }
    }

    /// Decides on a request. A request with two `Origin` fields is refused as malformed.
    public func decide(_ request: RequestHead) -> Decision {
        guard let origin = request.headerFields.first(.origin) else { return .withoutOrigin }
        return request.headerFields.count(of: .origin) == 1 ? decide(origin: origin, host: request.authority) : .refused
    }

    /// Returns true if a request is a preflight: OPTIONS with `Origin` and `Access-Control-Request-Method`.
    public static func isPreflight(_ request: RequestHead) -> Bool {
        request.method == .options && request.headerFields.contains(.accessControlRequestMethod)
            && request.headerFields.contains(.origin)
    }

    /// Returns the fields of the answer to a preflight, whose status is 204.
    public func preflightFields(for decision: Decision) -> [HTTPField] {
        guard case .allowed(let origin) = decision else { return variesByOrigin }
        return originFields(origin) + [
            HTTPField(name: .accessControlAllowMethods, value: Self.methods),
            HTTPField(name: .accessControlAllowHeaders, value: requestHeaders),
            HTTPField(name: .accessControlMaxAge, value: Self.maxAge),
        ]
    }

    /// Returns the fields to add to every answer to an actual request. Errors need them too: without them a page cannot
    /// read the error.
    public func responseFields(for decision: Decision) -> [HTTPField] {
        guard case .allowed(let origin) = decision else { return variesByOrigin }
        guard !exposedHeaders.isEmpty else { return originFields(origin) }
        return originFields(origin) + [HTTPField(name: .accessControlExposeHeaders, value: exposedHeaders)]
    }

    /// Returns the fields that allow `origin`. Browser credentials (cookies) are never allowed: clients authenticate
    /// with the token that they send.
    private func originFields(_ origin: Origin) -> [HTTPField] {
        let value = allowed == .any ? "*" : origin.text
        return [HTTPField(name: .accessControlAllowOrigin, value: value)] + variesByOrigin
    }

    /// `Vary: Origin`; nothing if no other origin is allowed, since answers are then the same for all that may read them.
    private var variesByOrigin: [HTTPField] {
        allowed == .only([]) ? [] : [HTTPField(name: .vary, value: HTTPField.Name.origin.rawName)]
    }
}
