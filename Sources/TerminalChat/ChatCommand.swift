public import ArgumentParser
import BackscrollClient
import BackscrollTimeline
import Dispatch
import FoundationEssentials
import Glibc

/// `backscroll-tools chat`.
public struct ChatCommand: AsyncParsableCommand {
    /// The help.
    public static let configuration = CommandConfiguration(
        commandName: "chat",
        abstract: "Chat in a room, in the terminal.",
        discussion: """
            Up and down scroll through the history, page up and page down by a screen, and end goes to the newest message. \
            Enter sends. Ctrl-R sends a refused message again, and Ctrl-X discards it. Ctrl-C ends the chat.

              backscroll-tools chat http://localhost:8080 --room lobby --as alice

            Without --room it lists your rooms, those with the latest message first.

            If its input or output is not a terminal, it prints new messages of the room, and sends each line of its input. \
            After the end of the input it exits once all messages are stored:

              echo hi | backscroll-tools chat http://localhost:8080 --room lobby --as bob
            """)

    @Argument(help: "The server's address: http://host:port or https://host:port.")
    var url: String

    @Option(help: ArgumentHelp("The room; without it your rooms are listed.", valueName: "room"))
    var room: String?

    @Option(name: .customLong("as"), help: ArgumentHelp("Your name, for a server without keys.", valueName: "user"))
    var user: String?

    @Option(help: ArgumentHelp("Read your token from this file, and again before it expires.", valueName: "path"))
    var tokenFile: String?

    @Option(help: ArgumentHelp("Trust the certificates in this file (PEM), too.", valueName: "path"))
    var tlsCA: String?

    /// Creates the command for parsing.
    public init() {}

    /// Checks that there is a user.
    public func validate() throws {
        guard (user == nil) != (tokenFile == nil) else {
            throw ValidationError("Say who you are: --as NAME, or --token-file PATH for a server with keys.")
        }
        guard URL(string: url) != nil else { throw ValidationError("'\(url)' is not an address.") }
    }

    /// Runs until the user leaves.
    public func run() async throws {
        guard let server = URL(string: url) else { return }
        if let tokenFile, access(tokenFile, R_OK) != 0 {
            throw ChatFailure(description: "\(tokenFile) cannot be read: \(String(cString: strerror(errno)))")
        }
        var options = ClientOptions()
        options.transport = SocketTransport(trusting: tlsCA)
        let client = BackscrollClient(server: server, user: who, options: options)
        let room: Room
        do {
            guard let id = self.room else {
                try await listRooms(of: client)
                return await client.close()
            }
            room = try await client.room(id)
            try await room.open(at: isatty(0) == 1 ? .read : .newest)
        } catch {
            throw ChatFailure(description: "\(error.message) (\(error.code))")
        }
        if isatty(0) == 1, isatty(1) == 1 {
            await TerminalScreen(room: room).run()
        } else {
            try await copyLines(room)
        }
        await client.close()
    }

    /// Prints the user's rooms: the unread count, the id, the title and the newest message.
    private func listRooms(of client: BackscrollClient) async throws(BackscrollClientError) {
        let inbox = try await client.rooms.open()
        // The list comes in several parts.
        for await change in inbox.changes where change.view.isLive { break }
        let view = await inbox.view
        for room in view.rooms {
            var parts = [room.unread > 0 ? "\(RowText.count(Int64(room.unread))) new" : "-", room.id]
            if let title = room.title { parts.append("(\(title))") }
            if let message = room.lastMessage {
                parts.append("\(message.senderID): \(message.isDeleted ? "(deleted)" : message.text)")
            }
            writeOut(RowText.wrapped(parts.joined(separator: " "), width: 10_000).joined(separator: " ") + "\n")
        }
        if view.rooms.isEmpty { writeOut("You are in no room yet. Start with --room NAME.\n") }
        if view.hasMore { writeOut("You have more rooms than are listed.\n") }
    }

    private var who: BackscrollClient.User {
        guard let tokenFile else { return .name(user ?? "") }
        return .token {
            // A token has no white space, but its file ends with a line break.
            try String(contentsOfFile: tokenFile, encoding: .utf8).split(whereSeparator: \.isWhitespace).joined()
        }
    }

    /// Prints messages, and sends the lines of the standard input.
    private func copyLines(_ room: Room) async throws {
        let start = await room.view.rows.last?.seq ?? 0
        let printing = Task {
            var printed = start
            for await change in room.changes {
                for row in change.view.rows {
                    guard case .message(let message, _) = row.content, message.seq > printed else { continue }
                    printed = message.seq
                    writeOut(RowText(row, width: 10_000).lines.joined(separator: " ") + "\n")
                }
            }
        }
        var last: Task<Void, any Error>?
        for await line in inputLines() where !line.isEmpty {
            let draft = ChatDraft(line)
            try await room.enqueue(draft)
            last = Task { _ = try await room.stored(draft.clientMessageID) }
        }
        do {
            try await last?.value
        } catch let error as BackscrollClientError {
            throw ChatFailure(description: "\(error.message) (\(error.code))")
        }
        await room.close()
        await printing.value
    }

    /// The lines of the standard input, read on a thread of their own.
    private func inputLines() -> AsyncStream<String> {
        AsyncStream { lines in
            DispatchQueue(label: "input").async {
                while let line = readLine() { lines.yield(line) }
                lines.finish()
            }
        }
    }
}

/// Writes text to the standard output at once.
func writeOut(_ text: String) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
        let count = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
        if count <= 0 { return }
        bytes = bytes.dropFirst(count)
    }
}

/// The reason why the chat ended. Unlike a validation error it is printed without the usage, and the exit status is 1.
private struct ChatFailure: Error, CustomStringConvertible {
    let description: String
}
