import BackscrollTimeline
import Wire

/// Requests, and the contents of their answers.
extension BackscrollClient {
    /// Sends a request and returns the content of its answer.
    func request(
        _ method: String, _ target: String, body: [UInt8]? = nil, headerFields: [String: String] = [:]
    ) async throws(BackscrollClientError) -> [UInt8] {
        if isClosed { throw .isClosed }
        let server = try server.get()
        var hasRenewed = false
        while true {
            var request = TransportRequest(
                method: method, server: server, target: target, fields: options.headerFields, body: body ?? [],
                subprotocols: [], timeout: options.requestTimeout)
            request.fields.merge(headerFields) { $1 }
            if body != nil { request.fields["Content-Type"] = "application/json" }
            let token = try await authorize(&request)
            if let token { request.fields["Authorization"] = "Bearer \(token)" }
            let response: TransportResponse
            do {
                response = try await transport.send(request)
            } catch {
                throw BackscrollClientError(error)
            }
            if (200...299).contains(response.status) { return response.body }
            let error = BackscrollClientError(response)
            guard let token, error.status == 401, !hasRenewed else { throw error }
            hasRenewed = true
            forgetToken(token)
        }
    }

    /// Sends a request and reads the object in its answer.
    func object(
        _ method: String, _ target: String, body: [UInt8]? = nil, headerFields: [String: String] = [:]
    ) async throws(BackscrollClientError) -> JSONFields {
        let content = try await request(method, target, body: body, headerFields: headerFields)
        do {
            return try JSONFields(content)
        } catch {
            throw BackscrollClientError(
                code: BackscrollClientError.invalidAnswer, message: "The answer cannot be read: \(error.detail)")
        }
    }

    /// Sends a request and reads the message in its answer.
    func message(
        _ method: String, _ target: String, body: [UInt8]? = nil, headerFields: [String: String] = [:]
    ) async throws(BackscrollClientError) -> ChatMessage {
        let content = try await request(method, target, body: body, headerFields: headerFields)
        do {
            return ChatMessage(try Message(decoding: content))
        } catch {
            throw BackscrollClientError(
                code: BackscrollClientError.invalidAnswer, message: "The answer cannot be read: \(error.detail)")
        }
    }

    /// Repeats an operation after temporary failures, up to ``ClientOptions/changeAttempts`` attempts.
    ///
    /// - Throws: the error of the last attempt; a failure after which the server asks for a pause longer than
    ///   ``ClientOptions/longestPause``; `cancelled`.
    func repeating<T: Sendable>(
        _ body: () async throws(BackscrollClientError) -> T
    ) async throws(BackscrollClientError) -> T {
        var attempt = 1
        while true {
            do throws(BackscrollClientError) {
                return try await body()
            } catch {
                let pause = error.retryAfter ?? options.pause(afterFailures: attempt)
                guard error.isWorthRepeating, attempt < options.changeAttempts, pause <= options.longestPause.inSeconds
                else { throw error }
                attempt += 1
                do { try await options.clock.sleep(.seconds(pause)) } catch { throw .isCancelled }
            }
        }
    }

    /// Moves the user's read mark, and tells the inbox.
    func moveReadMark(of id: String, upTo seq: Int64) async throws(BackscrollClientError) -> RoomSummary {
        let room = try await putReadMark(of: id, upTo: seq)
        await following?.inbox?.put(room)
        return room
    }

    func page(of room: String, _ query: RoomMachine.Query) async throws(BackscrollClientError) -> RoomMachine.Page {
        let fields = try await object("GET", "/v1/rooms/\(room)/messages?\(query)")
        let integers = fields.integers
        do {
            guard let hasBefore = fields.booleans["has_before"], let hasAfter = fields.booleans["has_after"],
                let head = integers["head"], let rev = integers["rev"], let epoch = fields.strings["epoch"]
            else {
                throw BackscrollClientError(
                    code: BackscrollClientError.invalidAnswer, message: "The page lacks a field.")
            }
            return try RoomMachine.Page(
                messages: fields.messages, hasBefore: hasBefore, hasAfter: hasAfter, head: head, rev: rev, epoch: epoch,
                read: integers["read"], unread: integers["unread"], firstUnread: integers["first_unread"],
                firstUnreadMention: integers["first_unread_mention"])
        } catch let error as BackscrollClientError {
            throw error
        } catch {
            throw BackscrollClientError(
                code: BackscrollClientError.invalidAnswer, message: "The page cannot be read: \(error)")
        }
    }
}
