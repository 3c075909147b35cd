import Chat
import HTTPTypes
import Wire

/// Health checks, metrics and descriptions.
extension Exchange {
    /// `GET /`: the web page, or a short text with `--no-page`.
    func answerIndex() {
        if worker.services.configuration.page {
            add(.contentSecurityPolicy, PageContent.policy)
            return answer(PageContent.index)
        }
        let text = """
            Backscroll \(Version.current): a realtime chat backend whose history you can scroll both ways.

            Send:    curl -d '{"client_message_id":"a1","text":"hello"}' 'http://HOST/v1/rooms/lobby/messages?user=alice'
            Watch:   wscat -c 'ws://HOST/v1/rooms/lobby/live?user=bob'
            Read:    curl 'http://HOST/v1/rooms/lobby/messages?before=100&limit=30'

            The API: /openapi.json    The frames of sockets and event streams: /docs

            """
        answer(contentType: ContentType.text, body: Array(text.utf8).span)
    }

    /// `GET /healthz`: the process serves requests.
    func answerHealth() {
        answer { $0.append(contentsOf: #"{"status":"ok"}"#.utf8) }
    }

    /// `GET /readyz`: the server can commit, hears of other nodes' commits, and is not stopping. The cause of a failure
    /// is in the log only, because anybody may ask.
    func answerReadiness() {
        if worker.isWindingDown {
            answer(.unavailable("The server is stopping."))
        } else if let problem = worker.services.logProblem() {
            answer(problem)
        } else if case let rooms = worker.services.damagedRooms(), rooms > 0 {
            // A 503 would take the other rooms out of service, too.
            answer { $0.append(contentsOf: #"{"status":"degraded","rooms":\#(rooms)}"#.utf8) }
        } else {
            answer { $0.append(contentsOf: #"{"status":"ready"}"#.utf8) }
        }
    }

    /// `GET /metrics`: Prometheus' text format, version 0.0.4, computed at most once in an interval.
    func answerMetrics() {
        answer(contentType: ContentType.prometheus, body: worker.services.exposition.bytes(at: .now).span)
    }

    /// `GET /openapi.json`
    func answerDescription() {
        answer(
            APIDescription.content(
                wantsTokens: worker.authenticator != nil,
                hasMetrics: worker.services.configuration.metricsAddress == nil))
    }

    /// `GET /docs`
    func answerDocs() {
        add(.contentSecurityPolicy, "default-src 'none'; style-src 'unsafe-inline'")
        answer(DocsPage.content)
    }
}

/// The files of the web page, ready to serve.
enum PageContent {
    static let index = StaticContent(Page.index.bytes, contentType: Page.index.contentType)
    /// The files, by name.
    static let files = Dictionary(
        uniqueKeysWithValues: Page.files.map { ($0.name, StaticContent($0.bytes, contentType: $0.contentType)) })

    /// The header that lets a service worker control paths outside its own directory.
    static let serviceWorkerAllowed = HTTPField.Name("Service-Worker-Allowed")!

    /// The page's content security policy: only its own scripts and styles, and no framing by other pages. Images and
    /// videos in messages may come from anywhere.
    static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' http: https: data:; \
        media-src http: https:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
        """
}

extension Exchange {
    /// `GET /page/{name}`.
    ///
    /// - Throws: 404 when there is no such file, or the server runs without the page.
    func answerPageFile(_ name: String) throws(Problem) {
        guard worker.services.configuration.page, let file = PageContent.files[name] else { throw .notFound }
        // The service worker caches the document, too, which is outside the worker's directory.
        if name == Page.worker { add(PageContent.serviceWorkerAllowed, "/") }
        answer(file)
    }
}
