import HTTP
import HTTPTypes
import Page
import Wire

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
