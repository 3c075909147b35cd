/// The web page: its files, embedded in the program.
///
/// They have no build step. Each is served as it stands in this folder.
public enum Page {
    /// One file of the page.
    public struct File: Sendable {
        /// The name under which the others refer to it.
        public let name: String
        /// The media type, with its character encoding.
        public let contentType: String
        /// The content.
        public let bytes: [UInt8]
    }

    /// The document that the others belong to.
    public static let index = File(
        name: "index.html", contentType: "text/html; charset=utf-8", bytes: PackageResources.index_html)

    /// The name of the service worker among the files.
    public static let worker = "offline.js"

    /// The files that the document loads.
    public static let files: [File] = [
        File(name: "style.css", contentType: "text/css; charset=utf-8", bytes: PackageResources.style_css),
        File(name: "icon.svg", contentType: "image/svg+xml", bytes: PackageResources.icon_svg),
        script("api", PackageResources.api_js),
        script("app", PackageResources.app_js),
        script("composer", PackageResources.composer_js),
        script("inbox", PackageResources.inbox_js),
        script("list", PackageResources.list_js),
        script("message", PackageResources.message_js),
        script("offline", PackageResources.offline_js),
        script("outbox", PackageResources.outbox_js),
        script("renew", PackageResources.renew_js),
        script("room", PackageResources.room_js),
        script("screen", PackageResources.screen_js),
        script("socket", PackageResources.socket_js),
        script("store", PackageResources.store_js),
        script("text", PackageResources.text_js),
        script("thumbhash", PackageResources.thumbhash_js),
        script("timeline", PackageResources.timeline_js),
        script("timeline-difference", PackageResources.timeline_difference_js),
        script("timeline-events", PackageResources.timeline_events_js),
        script("timeline-window", PackageResources.timeline_window_js),
    ]

    private static func script(_ name: String, _ bytes: [UInt8]) -> File {
        File(name: "\(name).js", contentType: "text/javascript; charset=utf-8", bytes: bytes)
    }
}
