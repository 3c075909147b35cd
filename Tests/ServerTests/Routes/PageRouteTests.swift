import CZlib
import HTTP
import HTTPTypes
import Testing

@testable import Server

@Suite("The web page")
struct PageRouteTests {
    private func decompressed(_ bytes: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        // Plain deflate data lies between gzip's header and its checksum.
        guard backscroll_inflate_init(&stream, 15) == Z_OK else { return [] }
        defer { inflateEnd(&stream) }
        return bytes[10...].withUnsafeBufferPointer { input in
            [UInt8](unsafeUninitializedCapacity: 1 << 20) { output, count in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = 1 << 20
                _ = inflate(&stream, Z_FINISH)
                count = (1 << 20) - Int(stream.avail_out)
            }
        }
    }

    @Test func `is served with all files it refers to, under a policy that allows no others`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let index = try client.get("/")
            #expect(index.status == .ok && index["Content-Type"] == "text/html; charset=utf-8")
            let policy = try #require(index["Content-Security-Policy"])
            #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
            #expect(!policy.contains("unsafe"))
            #expect(index["X-Content-Type-Options"] == "nosniff")
            for match in index.text.matches(of: /"(\/page\/[^"]+)"/) {
                #expect(try client.get(String(match.1)).status == .ok)
            }
            for file in Page.files {
                let response = try client.get("/page/\(file.name)")
                #expect(response.status == .ok && response.body == file.bytes)
                #expect(response["Content-Type"] == file.contentType)
                let folder = file.name.hasPrefix("client/") ? "client/" : ""
                for match in response.text.matches(of: /from "\.\/([^"]+)"/) {
                    #expect(Page.files.contains { $0.name == folder + match.1 }, "\(file.name) imports it")
                }
            }
            #expect(try client.get("/page/nothing.js").problem.code == "not_found")
        }
    }

    @Test func `is less than 110 KB compressed, and is not sent again to clients that have it`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            var total = 0
            for path in ["/"] + Page.files.map({ "/page/\($0.name)" }) {
                let response = try client.get(path, fields: [HTTPField("Accept-Encoding", "br, gzip")])
                #expect(response["Content-Encoding"] == "gzip" && response["Vary"] == "Accept-Encoding")
                #expect(decompressed(response.body) == (try client.get(path).body))
                total += response.body.count
                let tag = try #require(response["ETag"])
                let fields = [HTTPField("Accept-Encoding", "gzip"), HTTPField("If-None-Match", tag)]
                #expect(try client.get(path, fields: fields).status == .notModified)
                let plain = try client.get(path, fields: [HTTPField("Accept-Encoding", "gzip;q=0, identity")])
                #expect(plain["Content-Encoding"] == nil && plain["ETag"] != tag)
            }
            #expect(total < 110_000)
        }
    }

    @Test func `has icons for its installation, of the sizes that the manifest names, which its weight does not count`()
        throws
    {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let manifest = try client.get("/page/manifest.webmanifest").text
            let named = manifest.matches(of: /"(\/page\/[\w-]+\.png)", "sizes": "(\d+)x/).map { ($0.1, Int($0.2)) }
            #expect(named.count == 3 && Page.icons.count == 4)
            for (path, size) in named + [("/page/icon-180.png", 180)] {
                let icon = try client.get(String(path), fields: [HTTPField("Accept-Encoding", "gzip")])
                #expect(icon["Content-Type"] == "image/png" && icon["Content-Encoding"] == nil)
                #expect(icon.body.starts(with: [0x89] + Array("PNG\r\n\u{1a}\n".utf8)) && icon.body.count < 4_000)
                // The header's width and height.
                let sides = [16, 20].map { icon.body[$0..<$0 + 4].reduce(0) { $0 << 8 | Int($1) } }
                #expect(sides == [size, size])
            }
        }
    }

    @Test func `can be turned off`() throws {
        try withServer {
            $0.page = false
        } _: { server in
            let client = try HTTPClient(port: server.port)
            #expect(try client.get("/")["Content-Type"] == "text/plain; charset=utf-8")
            #expect(try client.get("/page/app.js").status == .notFound)
        }
    }

    @Test func `comes with a package of its modules, which browsers keep and npm installs`() throws {
        try withServer {
            $0.allowedOrigins = ["https://app.example"]
        } _: { server in
            let client = try HTTPClient(port: server.port)
            let folder = "/backscroll-\(Version.current)"
            let entry = try client.get("/backscroll.js", fields: [HTTPField("Origin", "https://app.example")])
            #expect(entry["Content-Type"] == "text/javascript; charset=utf-8" && entry["Cache-Control"] == "no-cache")
            #expect(
                entry.text.contains(".\(folder)/index.js")
                    && entry["Access-Control-Allow-Origin"] == "https://app.example")
            for name in ["index.js", "package.json", "types/index.d.ts", "LICENSE"] {
                let file = try client.get("\(folder)/\(name)", fields: [HTTPField("Origin", "https://app.example")])
                #expect(file.status == .ok && file["Cache-Control"] == "public, max-age=31536000, immutable", "\(name)")
                #expect(file["Access-Control-Allow-Origin"] == "https://app.example")
            }
            let archive = try client.get("\(folder).tgz", fields: [HTTPField("Accept-Encoding", "gzip")])
            #expect(archive["Content-Type"] == "application/gzip" && archive["Content-Encoding"] == nil)
            #expect(decompressed(archive.body).starts(with: Array("package/LICENSE".utf8)))
            for path in [
                "/backscroll-0.0.0/index.js", "\(folder)/nothing.js", "\(folder)/types/nothing", "/backscroll",
            ] {
                #expect(try client.get(path).problem.code == "not_found", "\(path)")
            }
        }
    }

    @Test func `serves code without comments, types, indentation and line breaks that nothing needs`() {
        let module = """
            /**
             * A module.
             */

            // A comment.
            /** One. */
            const one =
                /** @type {any} */ (1); // kept
            /** @type {any} */ (one).two();
            """
        let text = String(decoding: Page.withoutComments(Array(module.utf8)), as: UTF8.self)
        #expect(text == "const one =\n/** @type {any} */ (1); // kept\n/** @type {any} */ (one).two();")
        let longer = module + "\n\nif (one) {\n    two();\n}\n"
        let page = String(decoding: Page.compact(Array(longer.utf8)), as: UTF8.self)
        #expect(page == "const one =\n(1); // kept\n(one).two();\nif (one) {\ntwo();\n}")
        let joined = String(decoding: Page.joined(Page.compact(Array(longer.utf8))), as: UTF8.self)
        #expect(joined == "const one =\n(1); // kept\n(one).two();if (one) {two();}")
        let style = "/* A comment. */\n.a {\n  color: red;\n}\n/* Of two\n   lines. */\n.b { color: blue; }\n"
        let rules = String(decoding: Page.compact(Array(style.utf8)), as: UTF8.self)
        #expect(rules == ".a {\ncolor: red;\n}\n.b { color: blue; }")
    }
}
