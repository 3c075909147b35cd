import Chat
import CoreMetrics
import Logging
import Synchronization
import Tokens
import Transport
import Webhooks
import Wire

/// Asks the app before a message is stored or edited: `--before-send`. No call waits.
final class BeforeSend: Sendable {
    /// Maximum number of questions under way; messages beyond it are refused.
    static let maximumQuestions = 256
    /// The time until the whole answer must have arrived. There is one attempt.
    static let answerTime = Duration.milliseconds(1500)
    /// Maximum size of an answer in bytes. A text and `data` of the maximum size fit, with each byte escaped.
    static let maximumAnswer = 256 * 1024
    /// Minimum time without a failure after which the app counts as answering again.
    static let recoveryTime = Duration.seconds(10)

    private struct State {
        var secrets: [WebhookSecret]
        var underWay = 0
        /// The time of the last failure, until the app counts as answering again.
        var lastFailure: ContinuousClock.Instant?
        var isClosed = false
    }

    private let configuration: BeforeSendConfiguration
    private let sender: CurlSender
    private let state: Mutex<State>
    private let metrics: BeforeSendMetrics
    private let logger: Logger

    init(
        _ configuration: BeforeSendConfiguration, secrets: [WebhookSecret], metrics: BeforeSendMetrics, logger: Logger
    ) {
        self.configuration = configuration
        self.metrics = metrics
        self.logger = logger
        state = Mutex(State(secrets: secrets))
        sender = CurlSender(Self.sender)
    }

    // The operator has chosen the URL, so it may be inside of the network.
    private static var sender: SenderConfiguration {
        var sender = SenderConfiguration(userAgent: "Backscroll/\(Version.current)")
        sender.allowed = ["0.0.0.0/0", "::/0"].compactMap(IPRange.init)
        sender.allowsHTTP = true
        sender.maximumAnswer = maximumAnswer
        return sender
    }

    /// Reads the secrets that sign questions, and checks the URL.
    ///
    /// - Throws: ``ServerError``.
    static func secrets(of configuration: BeforeSendConfiguration) throws(ServerError) -> [WebhookSecret] {
        if let problem = ReceiverURL.problem(configuration.url, sender) { throw .badBeforeSend(problem) }
        let path = configuration.secretFile
        let content: [UInt8]
        do throws(KeyError) {
            content = try KeyFile.read(path)
        } catch {
            throw .badBeforeSendSecret(path, error.reason)
        }
        let lines = String(decoding: content, as: UTF8.self).split(whereSeparator: \.isNewline)
        let secrets = lines.compactMap { WebhookSecret(String($0)) }
        guard !secrets.isEmpty, secrets.count == lines.count else {
            throw .badBeforeSendSecret(
                path, "each line must be whsec_ and \(WebhookSecret.size) bytes in base64.")
        }
        return secrets
    }

    /// Signs further questions with these secrets.
    func sign(with secrets: [WebhookSecret]) { state.withLock { $0.secrets = secrets } }

    /// Ends the questions under way. Their messages are refused, as are later ones.
    func close() {
        state.withLock { $0.isClosed = true }
        sender.close()
    }

    // MARK: Questions

    /// Asks whether a message may be stored.
    ///
    /// - Parameters:
    ///   - content: Its content.
    ///   - question: The body of the question.
    ///   - then: Gets the content to store, or the reason why it is refused. Called once, on any thread.
    func ask(
        about content: Content, _ question: [UInt8], then: @escaping @Sendable (Result<Content, Problem>) -> Void
    ) {
        let secrets: [WebhookSecret]? = state.withLock { state in
            guard state.underWay < Self.maximumQuestions else { return nil }
            state.underWay += 1
            return state.secrets
        }
        guard let secrets else {
            metrics.overloaded.increment()
            return then(.failure(.overloaded))
        }
        let (id, seconds) = (Self.newID(), Timestamp.now().milliseconds / 1000)
        let headers = [
            ("Content-Type", "application/json"), ("webhook-id", id), ("webhook-timestamp", "\(seconds)"),
            ("webhook-signature", secrets.signatures(of: question, id: id, timestamp: seconds)),
        ]
        let start = ContinuousClock.now
        sender.post(configuration.url, headers: headers, body: question, timeout: Self.answerTime) { [self] result in
            then(answered(content, result, after: .now - start))
        }
    }

    private static func newID() -> String {
        "msg_" + (0..<2).map { _ in String(UInt64.random(in: 0 ... .max), radix: 36) }.joined()
    }

    private func answered(
        _ content: Content, _ result: Result<SenderAnswer, SenderError>, after time: Duration
    ) -> Result<Content, Problem> {
        let isClosed = state.withLock { state in
            state.underWay -= 1
            return state.isClosed
        }
        if isClosed { return .failure(.unavailable("The server is stopping.")) }
        metrics.seconds.recordNanoseconds(time.nanoseconds)
        do throws(NoAnswer) {
            let answer = try Self.answer(in: result)
            let accepted = try answer.applied(to: content)
            noteSuccess()
            switch accepted {
            case .success(let new): (new.isSame(as: content) ? metrics.allowed : metrics.changed).increment()
            case .failure: metrics.denied.increment()
            }
            return accepted
        } catch {
            metrics.failed.increment()
            noteFailure(error.reason)
            return configuration.failure == .allow
                ? .success(content) : .failure(.unavailable("The app does not say whether it accepts this message."))
        }
    }

    /// Returns the app's answer.
    private static func answer(in result: Result<SenderAnswer, SenderError>) throws(NoAnswer) -> AppAnswer {
        let answer: SenderAnswer
        do throws(SenderError) {
            answer = try result.get()
        } catch {
            throw NoAnswer(reason: error.description)
        }
        guard (200...299).contains(answer.status) else { throw NoAnswer(reason: "it answers \(answer.status)") }
        do throws(Problem) { return try AppAnswer.decode(answer.body) } catch { throw NoAnswer(error) }
    }

    // MARK: State

    private func noteFailure(_ reason: String) {
        let isFirst = state.withLock { state in
            defer { state.lastFailure = .now }
            return state.lastFailure == nil
        }
        guard isFirst else { return }
        let effect = configuration.failure == .allow ? "stored as they are" : "refused"
        logger.error("the app of --before-send gives no answer, so messages are \(effect): \(reason)")
    }

    private func noteSuccess() {
        let isRecovery = state.withLock { state in
            guard let last = state.lastFailure, .now - last >= Self.recoveryTime else { return false }
            state.lastFailure = nil
            return true
        }
        if isRecovery { logger.notice("the app of --before-send answers again") }
    }
}

/// The reason why the app has not answered a question.
private struct NoAnswer: Error {
    let reason: String

    init(reason: String) { self.reason = reason }

    /// The reason is an answer that cannot be used.
    init(_ problem: Problem) { reason = "its answer cannot be used: \(problem.detail)" }
}

extension AppAnswer {
    /// Returns the content to store, or the refusal.
    fileprivate func applied(to content: Content) throws(NoAnswer) -> Result<Content, Problem> {
        switch self {
        case .deny(let detail): return .failure(.rejected(detail))
        case .allow(let text, let data):
            var content = content
            if let text { content.text = text }
            if let data { content.data = data }
            guard !content.isEmpty else { throw NoAnswer(.emptyMessage) }
            return .success(content)
        }
    }
}

/// The metrics of ``BeforeSend``.
struct BeforeSendMetrics: Sendable {
    let allowed: Counter
    let changed: Counter
    let denied: Counter
    let failed: Counter
    let overloaded: Counter
    let seconds: Timer

    init(factory: any MetricsFactory) {
        func counter(_ result: String) -> Counter {
            Counter(label: ServerMetricName.beforeSend.rawValue, dimensions: [("result", result)], factory: factory)
        }
        allowed = counter("allowed")
        changed = counter("changed")
        denied = counter("denied")
        failed = counter("failed")
        overloaded = counter("overloaded")
        seconds = Timer(label: ServerMetricName.beforeSendSeconds.rawValue, factory: factory)
    }
}
