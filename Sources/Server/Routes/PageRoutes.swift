import Chat
import HTTPTypes
import Wire

/// The web page.
enum PageRoutes {
    /// `GET /`: the web page, or a short text with `--no-page`.
    static func index(_ request: RoutedRequest) throws(Problem) {
        if request.services.configuration.page {
            request.exchange.add(.contentSecurityPolicy, PageContent.policy)
            return request.answerStatic(PageContent.index)
        }
        let text = """
            Backscroll \(Version.current): a realtime chat backend whose history you can scroll both ways.

            Send:    curl -d '{"client_message_id":"a1","text":"hello"}' 'http://HOST/v1/rooms/lobby/messages?user=alice'
            Watch:   wscat -c 'ws://HOST/v1/rooms/lobby/live?user=bob'
            Read:    curl 'http://HOST/v1/rooms/lobby/messages?before=100&limit=30'

            The API: /openapi.json    The frames of sockets and event streams: /docs

            """
        request.exchange.send(contentType: Exchange.ContentType.text, body: Array(text.utf8).span)
    }

    /// `GET /page/{name}`.
    ///
    /// - Throws: 404 when there is no such file, or the server runs without the page.
    static func file(_ request: RoutedRequest) throws(Problem) {
        // The service worker caches the document, too, which is outside the worker's directory.
        if request.name == Page.worker { request.exchange.add(PageContent.serviceWorkerAllowed, "/") }
        try answer(request, with: request.name)
    }

    /// `GET /page/client/{name}`: a module of the JavaScript package.
    ///
    /// - Throws: as ``file(_:)``.
    static func module(_ request: RoutedRequest) throws(Problem) {
        try answer(request, with: Page.packageFolder + request.name)
    }

    private static func answer(_ request: RoutedRequest, with name: String) throws(Problem) {
        guard request.services.configuration.page, let file = PageContent.files[name] else { throw .notFound }
        request.answerStatic(file)
    }
}

/// The files of the web page, ready to serve.
enum PageContent {
    static let index = StaticContent(Page.index.bytes, contentType: Page.index.contentType)
    /// The files, by name.
    static let files = Dictionary(
        uniqueKeysWithValues: (Page.files + Page.icons).map { file in
            (file.name, StaticContent(file.bytes, contentType: file.contentType))
        })

    /// The header that lets a service worker control paths outside its own directory.
    static let serviceWorkerAllowed = HTTPField.Name("Service-Worker-Allowed")!

    /// The page's content security policy: only its own scripts and styles, and no framing by other pages. Images and
    /// videos in messages may come from anywhere.
    static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' http: https: data:; \
        media-src http: https:; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
        """
}
