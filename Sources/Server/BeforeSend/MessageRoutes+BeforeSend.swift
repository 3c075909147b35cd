import Chat
import Transport
import Wire

/// Sends and edits that the app is asked about.
extension MessageRoutes {
    /// Makes a send or an edit if the app allows it. First the log decides whether it would be made, so that the app is asked
    /// neither about what is refused anyway nor about repeated sends. After the answer it decides again.
    ///
    /// - Parameter then: Gets the outcome, on the loop.
    static func ask(
        _ app: BeforeSend, _ change: Submission.Change, of request: RoutedRequest, by sender: UserID,
        then: @escaping (Result<Receipt, Problem>) -> Void
    ) {
        let (exchange, room, isAdmin) = (request.exchange, request.room, request.caller.isAdmin)
        exchange.worker.log.submit(change, to: room, by: sender, isAdmin: isAdmin, isTrial: true, for: exchange) {
            guard case .success(.permitted(let permitted)) = $0 else { return then($0) }
            let message: Message
            do throws(Problem) {
                message = try Message(decoding: permitted.body)
            } catch {
                return then(.failure(error))
            }
            var question: [UInt8] = []
            message.content.encodeQuestion(
                room: room, sender: sender, clientMessageID: message.clientMessageID, edited: change.edited,
                into: &question)
            let waiting = LoopBound((exchange: exchange, then: then), of: exchange.worker.loop)
            app.ask(about: message.content, question) { answer in
                _ = waiting.loop.post {
                    let (exchange, then) = waiting.value
                    switch answer {
                    case .success(let content):
                        exchange.worker.log.submit(
                            change.storing(content), to: room, by: sender, isAdmin: isAdmin, for: exchange, then: then)
                    case .failure(let problem): then(.failure(problem))
                    }
                }
            }
        }
    }
}

extension Submission.Change {
    /// The `seq` of the message that is edited; `nil` for other changes.
    fileprivate var edited: Int64? {
        if case .change(let change) = self { change.seq } else { nil }
    }

    /// Returns the send or the edit with the content that the app has allowed. All of it: the message may have been edited
    /// meanwhile, and nothing is stored that the app has not seen.
    fileprivate func storing(_ content: Content) -> Submission.Change {
        switch self {
        case .send(var draft):
            if !content.isSame(as: draft.content) {
                draft.original = draft.content
                draft.content = content
            }
            return .send(draft)
        case .change(var change):
            change.action = .edit(
                Edit(
                    text: content.text, attachments: content.attachments, mentions: content.mentions.users,
                    mentionsRoom: content.mentions.room, data: content.data))
            return .change(change)
        case .read, .room, .user: return self
        }
    }
}
