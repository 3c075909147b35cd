import WebSocket

/// The page at `/docs`: how to use sockets and event streams, their frames, and a list of the operations. It has no
/// scripts and loads no resources.
enum DocsPage {
    static let content = StaticContent(Array(html.utf8), contentType: "text/html; charset=utf-8")

    private static var html: String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>Backscroll: the protocol</title>
        <style>\(style)</style>
        </head>
        <body>
        <main>
        \(DocsText.introduction)
        \(DocsText.opening)
        <h2 id="from-the-server">Frames from the server</h2>
        \(table(of: DocsFrames.ofServer))
        \(DocsText.coming)
        <h2 id="from-the-client">Frames from the client</h2>
        \(table(of: DocsFrames.ofClient))
        \(DocsText.events)
        \(DocsText.resuming)
        <h2 id="closing">Closing</h2>
        <p>A WebSocket ends with a close code. An event stream just ends, and its <code>EventSource</code> reconnects.</p>
        <table>
        \(DocsFrames.closeCodes.map { row("<b>\($0.code.rawValue)</b>", $0.text) }.joined(separator: "\n"))
        </table>
        <h2 id="http">Over HTTP</h2>
        <p>The whole API, for people and client generators: <a href="/openapi.json">openapi.json</a>.</p>
        <table>
        \(APIOperation.all.map(row).joined(separator: "\n"))
        </table>
        </main>
        </body>
        </html>

        """
    }

    // MARK: Pieces

    private static func table(of frames: [DocsFrames.Frame]) -> String {
        let rows = frames.map { frame in
            let examples = frame.examples.map { "<div><code>\(escaped($0))</code></div>" }.joined()
            let members = frame.properties.compactMap { name, schema in
                schema["description"].map { "<li><code>\(name)</code>: \(html($0))</li>" }
            }
            let list = members.isEmpty ? "" : "<ul>" + members.joined() + "</ul>"
            return row("<b>\(frame.type)</b>", "\(examples)<p>\(html(frame.text))</p>\(list)")
        }
        return "<table>\n" + rows.joined(separator: "\n") + "\n</table>"
    }

    /// Converts Markdown with only code spans to HTML.
    private static func html(_ text: String) -> String {
        escaped(text).split(separator: "`", omittingEmptySubsequences: false).enumerated().map { index, part in
            index.isMultiple(of: 2) ? String(part) : "<code>\(part)</code>"
        }.joined()
    }

    private static func row(of operation: APIOperation) -> String {
        let path = "<code>\(operation.method.uppercased()) \(escaped(operation.path))</code>"
        return row(path, escaped(operation.summary))
    }

    private static func row(_ first: String, _ second: String) -> String {
        "<tr><td>\(first)</td><td>\(second)</td></tr>"
    }

    /// Escapes text for use between tags.
    static func escaped(_ text: String) -> String {
        text.map { $0 == "<" ? "&lt;" : $0 == "&" ? "&amp;" : String($0) }.joined()
    }

    private static let style = """

        :root { --ink: #1d2330; --soft: #5d6678; --line: #dfe3ea; --page: #fff; --code: #f4f6f9; --link: #1a5fb4 }
        @media (prefers-color-scheme: dark) {
          :root { --ink: #e3e7ee; --soft: #98a2b3; --line: #2c3442; --page: #12161d; --code: #1b212b; --link: #7ab0f5 }
        }
        body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 system-ui, sans-serif }
        main { max-width: 50rem; margin: auto; padding: 2.5rem 1.25rem 5rem }
        h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .5rem }
        h2 { font-size: 1.15rem; margin: 2.6rem 0 .6rem }
        p, ul { margin: .6rem 0 }
        a { color: var(--link) }
        code, pre { font: .84em/1.5 ui-monospace, Menlo, Consolas, monospace }
        code { background: var(--code); border-radius: .25em; padding: .1em .3em; overflow-wrap: anywhere }
        pre { background: var(--code); border-radius: .5em; padding: .8rem 1rem; overflow-x: auto; margin: .8rem 0 }
        pre i { color: var(--soft) }
        table { border-collapse: collapse; width: 100% }
        td { border-top: 1px solid var(--line); padding: .5rem .8rem .5rem 0; vertical-align: top }
        td:first-child { white-space: nowrap; width: 7rem }
        td p, td ul { margin: .25rem 0 0; color: var(--soft) }
        td ul { padding-left: 1.2rem }
        #http ~ table td:first-child { white-space: normal; width: 58% }

        """
}
