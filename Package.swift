// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// A module of this package and its tests. It may import only modules that are declared above it.
func module(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(of name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .testTarget(
        name: name + "Tests", dependencies: [.byName(name: name)] + dependencies, swiftSettings: settings)
}

let linux = TargetDependencyCondition.when(platforms: [.linux])
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let metrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
    name: "backscroll",
    // The platforms of apps that use the libraries. The server runs on Linux.
    platforms: [.macOS(.v14), .iOS(.v17)],
    products: [
        // Programs are not listed: SwiftPM makes products of them where this package is built, and an app that uses a library
        // below then fetches only what the libraries depend on.

        // The types that the server reads and writes, for clients and tools in Swift. It has no dependencies.
        .library(name: "Wire", targets: ["Wire"]),
        // The state machine of a chat screen, also for apps. It has no dependencies.
        .library(name: "BackscrollTimeline", targets: ["BackscrollTimeline"]),
        // A client for apps: rooms that are live and scroll both ways.
        .library(name: "BackscrollClient", targets: ["BackscrollClient"]),
        // A store for the client, on GRDB.
        .library(name: "BackscrollClientStore", targets: ["BackscrollClientStore"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CLibwebsockets",
            providers: [.apt(["libwebsockets-dev", "libwebsockets-evlib-uv", "libuv1-dev", "libssl-dev"])]),
        .systemLibrary(name: "COpenSSL", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        // A VFS of SQLite that gives each page a checksum.
        .target(name: "SQLiteChecksums", dependencies: ["CSQLite"]),
        .systemLibrary(name: "CPostgreSQL", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        // The JSON vocabulary shared with clients.
        module("Wire", []),
        // The state machine of a chat screen: events in, effects and a view out.
        .target(name: "BackscrollTimeline", path: "Sources/Timeline", swiftSettings: settings),
        // HTTP/1.1: bytes to requests, responses to bytes.
        module("HTTP", [httpTypes]),
        // RFC 6455 and 7692: bytes to messages, messages to bytes.
        module("WebSocket", ["CZlib"]),
        // A client for apps. Apple's platforms have URLSession; on Linux the codecs above and OpenSSL do the same.
        module(
            "BackscrollClient",
            [
                "Wire", "BackscrollTimeline", .target(name: "HTTP", condition: linux),
                .target(name: "WebSocket", condition: linux), .target(name: "COpenSSL", condition: linux),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: linux),
            ]),
        module("BackscrollClientStore", ["BackscrollClient", .product(name: "GRDB", package: "GRDB.swift")]),
        // A thread with a name.
        module("Threads", []),
        // Loops, listeners, connections, TLS.
        module("Transport", ["CLibwebsockets"]),
        // Search: what texts and queries have in common. It has no dependencies.
        module("TextSearch", []),
        // HMAC, and keys that sign and verify, with OpenSSL.
        module("Signatures", ["COpenSSL"]),
        // The contract of the log, rooms' feeds and subscribers, presence and notices.
        module("Chat", ["Wire", "WebSocket", "TextSearch", "Signatures"]),
        // The decisions of a node that shares a database with others.
        module("Nodes", ["Wire", "Chat"]),
        // Callers' tokens and the keys that verify them.
        module("Tokens", ["Wire", "Chat", "Signatures"]),
        // Deliveries to webhooks: signatures, which room is delivered when, and the client that sends them.
        module("Webhooks", ["CCurl", "Wire", "Signatures", "Threads", "Transport"]),
        // The log in SQLite or PostgreSQL.
        module(
            "Store",
            [
                "CSQLite", "SQLiteChecksums", "CPostgreSQL", "Wire", "Chat", "Nodes", "TextSearch", "Signatures",
                "Threads",
            ]),
        // The files of the web page, which are in Sources/Page.
        .target(name: "PageFiles"),
        // The description of the API, which is in Sources/Description.
        .target(name: "DescriptionFiles"),
        // A proxy that makes a server misbehave, to test clients.
        module("Faults", ["Wire", "HTTP", "WebSocket", "Transport", httpTypes]),
        // Routes, configuration, metrics; assembly and shutdown.
        module(
            "Server",
            [
                "Faults",
                "Wire", "TextSearch", "HTTP", "WebSocket", "Transport", "Chat", "Signatures", "Tokens", "Webhooks",
                "Store", "Threads",
                "PageFiles", "DescriptionFiles", "CZlib",
                httpTypes, logging, metrics,
            ]),
        // Parts that the commands of both programs share: progress and numbers in the terminal, errors, signals.
        module(
            "Commands", [arguments, .product(name: "UnixSignals", package: "swift-service-lifecycle")]),
        // The load generator.
        module(
            "Load",
            [
                "Commands", "Wire", "HTTP", "WebSocket", "Transport", arguments, httpTypes,
                .product(name: "Histogram", package: "hdrhistogram-swift"),
            ]),
        // A chat in the terminal.
        module("TerminalChat", ["BackscrollClient", "BackscrollTimeline", arguments]),
        // Benchmarks of parts of the server.
        module(
            "Bench",
            [
                "Wire", "HTTP", "WebSocket", "Chat", "Store", "BackscrollClient", "BackscrollTimeline", arguments,
                httpTypes,
            ]),
        // Measurements of the client's store, which the server does not contain.
        .executableTarget(
            name: "client-store-bench",
            dependencies: ["BackscrollClient", "BackscrollClientStore", "BackscrollTimeline"],
            path: "Sources/ClientStoreBench", swiftSettings: settings),
        // A simulation of nodes, clients and their database, by which their decisions are tested.
        .executableTarget(
            name: "backscroll-simulate", dependencies: ["Wire", "Chat", "Nodes", "BackscrollTimeline"],
            path: "Sources/Simulation", swiftSettings: settings),
        // The server.
        .executableTarget(
            name: "backscroll",
            dependencies: [
                "Commands", "Wire", "Chat", "Tokens", "Store", "Server", "Faults", "HTTP", "Transport", arguments,
                logging,
            ],
            swiftSettings: settings),
        // Tools that no server needs: a chat in the terminal, the load generator, benchmarks.
        .executableTarget(
            name: "backscroll-tools",
            dependencies: ["Commands", "Load", "TerminalChat", "Bench", "Server", arguments],
            path: "Sources/Tools", swiftSettings: settings),

        // Sockets, certificates, directories, random numbers and PostgreSQL for tests.
        .target(
            name: "TestSupport", dependencies: ["CLibwebsockets", "COpenSSL", "CPostgreSQL", "Threads"],
            path: "Tests/TestSupport",
            swiftSettings: settings),
        // A model of the log's rules, and random submissions to compare it with.
        .target(
            name: "RuleModel", dependencies: ["TestSupport", "Wire", "Chat"], path: "Tests/RuleModel",
            swiftSettings: settings),
        tests(of: "Wire", ["TestSupport"]),
        .testTarget(
            name: "BackscrollTimelineTests", dependencies: ["BackscrollTimeline"], path: "Tests/TimelineTests",
            swiftSettings: settings),
        tests(of: "HTTP", ["TestSupport", httpTypes]),
        tests(of: "WebSocket", ["TestSupport"]),
        tests(of: "Transport", ["TestSupport", "CLibwebsockets"]),
        tests(of: "TextSearch", ["TestSupport"]),
        tests(of: "Chat", ["TestSupport", "RuleModel", "Wire", "WebSocket"]),
        tests(of: "Nodes", ["TestSupport", "Wire", "Chat"]),
        tests(of: "Signatures", ["TestSupport", "COpenSSL"]),
        tests(of: "Tokens", ["TestSupport", "Wire", "Chat", "Signatures"]),
        tests(of: "Webhooks", ["TestSupport", "Wire", "Signatures", "Threads", "Transport"]),
        tests(
            of: "Store",
            [
                "TestSupport", "Threads", "RuleModel", "Wire", "TextSearch", "Signatures", "Chat", "Nodes",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        tests(of: "Faults", ["TestSupport", "Wire", "HTTP", "WebSocket", "Chat", httpTypes]),
        tests(
            of: "Server",
            [
                "TestSupport", "Wire", "HTTP", "WebSocket", "Transport", "Chat", "Tokens", "Webhooks", "Store",
                "Faults",
                "CZlib",
                httpTypes, logging, metrics, .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        tests(
            of: "BackscrollClient",
            [
                "TestSupport", "Wire", "Transport", "Tokens", "Server", "BackscrollTimeline", "BackscrollClientStore",
                .product(name: "GRDB", package: "GRDB.swift"), logging,
            ]),
        tests(of: "Bench", [arguments]),
        tests(of: "Commands"),
        tests(
            of: "Load",
            [
                "TestSupport", "Commands", "Wire", "HTTP", "WebSocket", "Transport", "Server", httpTypes, logging,
                arguments,
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// The fuzz targets of scripts/test-fuzz. Only it builds them, because they need libFuzzer and modules that are instrumented for it.
if Context.environment["BACKSCROLL_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "backscroll-fuzz",
            dependencies: [
                "Wire", "HTTP", "WebSocket", "Transport", "Chat", "Signatures", "Tokens", "Store", httpTypes,
            ],
            path: "Tests/Fuzz",
            exclude: ["http", "websocket", "json", "tokens", "proxy", "since", "imports", "pages", "pages.c"],
            swiftSettings: settings))
}
