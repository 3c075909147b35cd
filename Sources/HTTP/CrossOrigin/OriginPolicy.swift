public import HTTPTypes

/// Which pages may use the server from a browser: cross-origin resource sharing (WHATWG Fetch, section 3.2).
///
/// A policy decides, and gives the fields that say so. Requests without `Origin` come from no page of another site, so
/// they are none of its business.
public struct OriginPolicy: Sendable {
    /// The origins that are allowed besides the server's own.
    public enum Allowed: Sendable, Hashable {
        /// Every one.
        case any
        /// These.
        case only(Set<Origin>)
    }

    /// What is to be done with a request.
    public enum Decision: Sendable, Hashable {
        /// It carries no origin: serve it, without further fields.
        case withoutOrigin
        /// It comes from the server's own pages: serve it, without further fields.
        case sameOrigin
        /// It comes from an origin that is allowed: serve it, with ``OriginPolicy/responseFields(for:)``.
        case allowed(Origin)
        /// It comes from elsewhere (403).
        case refused
    }

    /// The origins that are allowed.
    public let allowed: Allowed
    private let methods: String
    private let requestHeaders: String
    private let exposedHeaders: String
    private let maxAge: String

    /// A policy.
    ///
    /// - Parameters:
    ///   - allowed: the origins that are allowed besides the server's own.
    ///   - methods: the methods that a page may use.
    ///   - requestHeaders: the fields that a page may send.
    ///   - exposedHeaders: the fields of answers that a page may read, besides those that it always may.
    ///   - maxAge: how long a browser may keep the answer to a preflight, in seconds; a day is the longest that any
    ///     browser does.
    public init(
        allowed: Allowed,
        methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete],
        requestHeaders: [HTTPField.Name] = [.authorization, .contentType],
        exposedHeaders: [HTTPField.Name] = [],
        maxAge: Int = 86400
    ) {
        self.allowed = allowed
        self.methods = methods.map(\.rawValue).joined(separator: ", ")
        self.requestHeaders = requestHeaders.map(\.rawName).joined(separator: ", ")
        self.exposedHeaders = exposedHeaders.map(\.rawName).joined(separator: ", ")
        self.maxAge = String(maxAge)
    }

    /// Decides on a request with these values of `Origin` and `Host`.
    ///
    /// A malformed origin is refused. `null`, which any page can bring about, is the same as no other: it is allowed
    /// when it is listed, or when every origin is.
    public func decide(origin: String?, host: String?) -> Decision {
        guard let origin else { return .withoutOrigin }
        guard let origin = Origin(origin) else { return .refused }
        if let host, origin.isSame(asHost: host) { return .sameOrigin }
        switch allowed {
        case .any: return .allowed(origin)
        case .only(let origins): return origins.contains(origin) ? .allowed(origin) : .refused
        }
    }

    /// Decides on a request. Two `Origin` fields are malformed.
    public func decide(_ request: RequestHead) -> Decision {
        guard let origin = request.headerFields.first(.origin) else { return .withoutOrigin }
        return request.headerFields.count(of: .origin) == 1 ? decide(origin: origin, host: request.authority) : .refused
    }

    /// Returns whether a request asks beforehand for the permission to send another: OPTIONS with `Origin` and
    /// `Access-Control-Request-Method`.
    public static func isPreflight(_ request: RequestHead) -> Bool {
        request.method == .options && request.headerFields.contains(.accessControlRequestMethod)
            && request.headerFields.contains(.origin)
    }

    /// The fields of the answer to a preflight, which is 204.
    public func preflightFields(for decision: Decision) -> [HTTPField] {
        guard case .allowed(let origin) = decision else { return [] }
        return originFields(origin) + [
            HTTPField(name: .accessControlAllowMethods, value: methods),
            HTTPField(name: .accessControlAllowHeaders, value: requestHeaders),
            HTTPField(name: .accessControlMaxAge, value: maxAge),
        ]
    }

    /// The fields to add to every answer to an actual request, refusals by routes included: without them the page
    /// cannot read why.
    public func responseFields(for decision: Decision) -> [HTTPField] {
        guard case .allowed(let origin) = decision else { return [] }
        guard !exposedHeaders.isEmpty else { return originFields(origin) }
        return originFields(origin) + [HTTPField(name: .accessControlExposeHeaders, value: exposedHeaders)]
    }

    /// The time when every origin gets the same answer, it need not vary. Credentials of the browser's own (cookies)
    /// are never allowed: callers are known by the token that they send.
    private func originFields(_ origin: Origin) -> [HTTPField] {
        switch allowed {
        case .any: [HTTPField(name: .accessControlAllowOrigin, value: "*")]
        case .only:
            [
                HTTPField(name: .accessControlAllowOrigin, value: origin.text),
                HTTPField(name: .vary, value: HTTPField.Name.origin.rawName),
            ]
        }
    }
}
