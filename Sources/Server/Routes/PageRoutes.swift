import HTTP
import HTTPTypes
import Page
import Wire

/// The web page as it is served.
enum PageContent {
    static let index = StaticContent(Page.index.bytes, contentType: Page.index.contentType)
    /// The files by their names.
    static let files = Dictionary(
        uniqueKeysWithValues: Page.files.map { ($0.name, StaticContent($0.bytes, contentType: $0.contentType)) })

    /// The field that lets a service worker serve more than what is beside it.
    static let serviceWorkerAllowed = HTTPField.Name("Service-Worker-Allowed")!

    /// The content security policy of the page: its own scripts and styles only, and no page around it. Pictures and films
    /// of messages may come from anywhere.
    static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' http: https: data:; \
        media-src http: https:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
        """
}

extension Exchange {
    /// `GET /page/{name}`
    ///
    /// - Throws: 404 when there is no such file, or no page.
    func answerPageFile(_ name: String) throws(Problem) {
        guard worker.services.configuration.page, let file = PageContent.files[name] else { throw .notFound }
        // The worker that keeps the page for when the server cannot be reached serves the document too, which is above its path.
        if name == Page.worker { add(PageContent.serviceWorkerAllowed, "/") }
        answer(file)
    }
}
