import Chat
import HTTP
import HTTPTypes
import Wire

/// Health checks, metrics and descriptions.
enum OperationRoutes {
    /// `GET /healthz`: the process serves requests.
    static func health(_ request: RoutedRequest) throws(Problem) {
        request.answerJSON { $0.append(contentsOf: #"{"status":"ok"}"#.utf8) }
    }

    /// `GET /readyz`: the server can commit, hears of other nodes' commits, and is not stopping. The cause of a failure
    /// is in the log only, because anybody may ask.
    static func readiness(_ request: RoutedRequest) throws(Problem) {
        if request.worker.isWindingDown {
            throw .unavailable("The server is stopping.")
        } else if let problem = request.services.health.problem() {
            throw problem
        } else if case let rooms = request.services.health.damagedRooms(), rooms > 0 {
            // A 503 would take the other rooms out of service, too.
            request.answerJSON { $0.append(contentsOf: #"{"status":"degraded","rooms":\#(rooms)}"#.utf8) }
        } else {
            request.answerJSON { $0.append(contentsOf: #"{"status":"ready"}"#.utf8) }
        }
    }

    /// `GET /metrics`: Prometheus' text format, version 0.0.4, computed at most once in an interval.
    static func metrics(_ request: RoutedRequest) throws(Problem) {
        request.exchange.send(
            contentType: Exchange.ContentType.prometheus, body: request.services.exposition.bytes(at: .now).span)
    }

    /// `GET /openapi.json`
    static func description(_ request: RoutedRequest) throws(Problem) {
        request.answerStatic(
            APIDescription.content(
                wantsTokens: request.worker.authenticator != nil,
                hasMetrics: request.services.configuration.metricsAddress == nil))
    }

    /// `GET /docs`
    static func docs(_ request: RoutedRequest) throws(Problem) {
        request.exchange.add(.contentSecurityPolicy, "default-src 'none'; style-src 'unsafe-inline'")
        request.answerStatic(DocsPage.content)
    }
}

extension RoutedRequest {
    /// Answers with content that clients may cache if they revalidate it each time, or without that if it never changes
    /// under its path. Compresses it for clients that accept gzip.
    func answerStatic(_ content: StaticContent, isImmutable: Bool = false) {
        let isCompressed = headerFields.acceptsGzip && !content.isCompressed
        // Each encoding has a tag of its own (RFC 9110, section 8.8.3).
        let tag = isCompressed ? "\"\(content.tag)-gzip\"" : "\"\(content.tag)\""
        exchange.add(.eTag, tag)
        exchange.add(.cacheControl, isImmutable ? "public, max-age=31536000, immutable" : "no-cache")
        exchange.add(.vary, "Accept-Encoding")
        if headerFields.ifNoneMatchNames(tag) {
            return exchange.send(.notModified, contentType: content.contentType, body: content.bytes.span)
        }
        if isCompressed { exchange.add(.contentEncoding, "gzip") }
        exchange.send(
            contentType: content.contentType, body: (isCompressed ? content.compressed : content.bytes).span,
            isAsIs: true)
    }
}
